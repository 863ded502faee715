/*
 * The byte streams to the host: frames in, frames out. A frame is handled only when there is room for its reply, so the
 * send queue never overflows, and a host that does not read stops being served.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

#define WRITE_BYTES 32768 /* What the kernel takes of one write to a virtio port. */
#define FRAME_BYTES_MAX (HEADER_BYTES + PAYLOAD_MAX + 1)

struct link links[LINKS];

uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }
uint32_t get32(const uint8_t *at) { return get16(at) | (uint32_t)get16(at + 2) << 16; }
uint64_t get64(const uint8_t *at) { return get32(at) | (uint64_t)get32(at + 4) << 32; }
uint8_t *put16(uint8_t *at, uint32_t value) {
  at[0] = value;
  at[1] = value >> 8;
  return at + 2;
}
uint8_t *put32(uint8_t *at, uint32_t value) { return put16(put16(at, value), value >> 16); }
uint8_t *put64(uint8_t *at, uint64_t value) { return put32(put32(at, (uint32_t)value), (uint32_t)(value >> 32)); }

void link_open(int index, int fd) {
  memset(&links[index], 0, sizeof links[index]);
  links[index].fd = fd;
  links[index].writable = 1;
  watch(fd, EVENT_LINK, index, 0);
}

size_t link_room(const struct link *link) {
  size_t used = link->out_length + COMMANDS_ROOM;
  return used >= QUEUE_BYTES ? 0 : QUEUE_BYTES - used;
}

/* Returns where the payload goes, or null if there is no room. */
uint8_t *reserve_frame(int index, uint32_t length) {
  struct link *link = &links[index];
  size_t wanted = HEADER_BYTES + (size_t)length + 1;
  if (link->out_length + wanted > QUEUE_BYTES) return 0;
  if (link->out_start + link->out_length + wanted > QUEUE_BYTES) {
    memmove(link->out, link->out + link->out_start, link->out_length);
    link->out_start = 0;
  }
  return link->out + link->out_start + link->out_length + HEADER_BYTES;
}

void commit_frame(int index, int type, int stream, uint32_t channel, uint32_t length) {
  struct link *link = &links[index];
  uint8_t *at = link->out + link->out_start + link->out_length;
  at[0] = type;
  at[1] = stream;
  put16(at + 2, 0);
  put32(at + 4, channel);
  put32(at + 8, length);
  at[HEADER_BYTES + length] = END_BYTE;
  link->out_length += HEADER_BYTES + length + 1;
}

void send_frame(int index, int type, int stream, uint32_t channel, const void *payload, uint32_t length) {
  if (!links[index].in_sync) return;
  uint8_t *at = reserve_frame(index, length);
  if (!at) return; /* Callers look for room first. */
  if (length) memcpy(at, payload, length);
  commit_frame(index, type, stream, channel, length);
}

/* To the host's log if it listens, otherwise to the console. */
void log_line(const char *format, ...) {
  char text[TEXT_BYTES_MAX];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof text) length = sizeof text - 1;
  if (length < 0) return;
  if (links[0].fd >= 0 && links[0].in_sync) {
    if (link_room(&links[0]) > sizeof text) send_frame(0, TYPE_LOG, 0, 0, text, length);
  } else if (!is_bare) printf("dock-agent: %s\n", text);
}

void link_flush(int index) {
  struct link *link = &links[index];
  while (link->fd >= 0 && link->out_length && link->writable) {
    size_t piece = link->out_length > WRITE_BYTES ? WRITE_BYTES : link->out_length;
    ssize_t wrote = write(link->fd, link->out + link->out_start, piece);
    if (wrote <= 0) {
      if (wrote < 0 && errno == EINTR) continue;
      link->writable = 0;
      break;
    }
    link->out_start += wrote;
    link->out_length -= wrote;
  }
  if (!link->out_length) link->out_start = 0;
}

/* The host's connection is new. What was under way on the old one is void; programs go on. */
static void handle_hello(int index, const uint8_t *payload) {
  struct link *link = &links[index];
  channels_detach(index);
  link->out_start = link->out_length = 0;
  uint32_t newest = get16(payload), oldest = get16(payload + 2);
  uint32_t version = newest < PROTOCOL_NEWEST ? newest : PROTOCOL_NEWEST;
  if (version < oldest || version < PROTOCOL_OLDEST) version = 0;
  uint8_t welcome[2 + 2 + NONCE_BYTES + 4], *at = put16(welcome, version);
  at = put16(at, machine_runs ? MACHINE_RUNS : MACHINE_WAITS);
  memcpy(at, payload + 4, NONCE_BYTES);
  put32(at + NONCE_BYTES, WINDOW_BYTES);
  link->in_sync = 1;
  send_frame(index, TYPE_WELCOME, 0, 0, welcome, sizeof welcome);
  if (!version) link->in_sync = 0;
}

static int is_hello(const uint8_t *at) {
  return at[0] == TYPE_HELLO && !at[1] && !get16(at + 2) && !get32(at + 4) && get32(at + 8) == 4 + NONCE_BYTES &&
         at[HEADER_BYTES + 4 + NONCE_BYTES] == END_BYTE;
}

/* Handles the whole frames in a buffer, which it may change, and returns how many bytes it is done with. */
static size_t handle_frames(int index, uint8_t *bytes, size_t length) {
  struct link *link = &links[index];
  size_t at = 0;
  while (at < length) {
    uint8_t *frame = bytes + at;
    size_t left = length - at;
    if (!link->in_sync && frame[0] != TYPE_HELLO) {
      at++;
      continue;
    }
    /* Zeros between frames end the half frame of a connection that broke. */
    if (!frame[0]) {
      at++;
      continue;
    }
    if (left < HEADER_BYTES) break;
    if (!link->in_sync) {
      if (get32(frame + 8) == 4 + NONCE_BYTES && left < HEADER_BYTES + 4 + NONCE_BYTES + 1) break;
      if (get32(frame + 8) != 4 + NONCE_BYTES || !is_hello(frame)) {
        at++;
        continue;
      }
    }
    uint32_t payload = get32(frame + 8);
    if (payload > PAYLOAD_MAX) {
      link->in_sync = 0;
      at++;
      continue;
    }
    if (left < HEADER_BYTES + (size_t)payload + 1) break;
    if (link->out_length + FRAME_BYTES_MAX + COMMANDS_ROOM / 4 > QUEUE_BYTES) break;
    at += HEADER_BYTES + payload + 1;
    if (frame[HEADER_BYTES + payload] != END_BYTE) {
      link->in_sync = 0;
      continue;
    }
    if (is_hello(frame)) handle_hello(index, frame + HEADER_BYTES);
    else
      channel_frame(index, frame[0], frame[1], get16(frame + 2), get32(frame + 4), frame + HEADER_BYTES, payload);
  }
  return at;
}

void link_receive(int index) {
  struct link *link = &links[index];
  if (link->fd < 0) return;
  for (;;) {
    size_t done = handle_frames(index, link->in, link->in_length);
    link->in_length -= done;
    if (done) memmove(link->in, link->in + done, link->in_length);
    if (link->in_length == sizeof link->in || !link->readable) return;
    ssize_t got = read(link->fd, link->in + link->in_length, sizeof link->in - link->in_length);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 && is_bare) _exit(0); /* The test has ended. */
    if (got <= 0) {
      link->readable = 0;
      return;
    }
    link->in_length += got;
  }
}
