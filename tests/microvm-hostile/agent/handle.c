/*
 * A guest agent that lies. It is the agent, with the handler of frames in between: a program with `/lie/NAME` in its request
 * begins the lie on the port of the request. With `/lie/later-NAME` the program starts, and the lie begins on the port that
 * attaches to it.
 */
#define channel_frame honest_frame
#include "honest/handle.c"
#undef channel_frame

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define BATCH 65536
#define NAME_MAX_BYTES 40

static char armed[NAME_MAX_BYTES];
static uint32_t armed_id, kept_open_id;

/* Writes all of it, however long the host takes. */
static void shout(int link, const void *bytes, size_t length) {
  int fd = links[link].fd;
  for (size_t at = 0; at < length;) {
    ssize_t wrote = write(fd, (const uint8_t *)bytes + at, length - at);
    if (wrote > 0) at += wrote;
    else {
      struct pollfd wait = {.fd = fd, .events = POLLOUT};
      poll(&wait, 1, 100);
    }
  }
}

static size_t frame(uint8_t *at, int type, int stream, uint32_t id, const void *payload, uint32_t length) {
  at[0] = type;
  at[1] = stream;
  put16(at + 2, 0);
  put32(at + 4, id);
  put32(at + 8, length);
  memcpy(at + HEADER_BYTES, payload, length);
  at[HEADER_BYTES + length] = END_BYTE;
  return HEADER_BYTES + length + 1;
}

static void say(int link, int type, int stream, uint32_t id, const void *payload, uint32_t length) {
  static uint8_t bytes[HEADER_BYTES + PAYLOAD_MAX + 1];
  shout(link, bytes, frame(bytes, type, stream, id, payload, length));
}

/* Repeats one frame for ever. */
static void flood(int link, int type, int stream, uint32_t id, const void *payload, uint32_t length) {
  static uint8_t bytes[BATCH];
  size_t used = 0;
  while (used + HEADER_BYTES + length + 1 <= BATCH) used += frame(bytes + used, type, stream, id, payload, length);
  for (;;) shout(link, bytes, used);
}

/* Output of one byte a frame, as much as the host's acknowledgements allow, for ever. */
static void flood_crumbs(int link, uint32_t id) {
  static uint8_t bytes[BATCH], in[BATCH];
  uint64_t sent = 0, acked = 0;
  size_t have = 0;
  for (;;) {
    size_t used = 0;
    while (sent < acked + WINDOW_BYTES && used + HEADER_BYTES + 2 <= BATCH) {
      used += frame(bytes + used, TYPE_DATA, 1, id, "x", 1);
      sent++;
    }
    shout(link, bytes, used);
    ssize_t got = read(links[link].fd, in + have, sizeof in - have);
    if (got > 0) have += got;
    else if (!used) poll(&(struct pollfd){.fd = links[link].fd, .events = POLLIN}, 1, 10);
    size_t at = 0;
    while (have - at >= HEADER_BYTES + 1) {
      if (!in[at]) {
        at++;
        continue;
      }
      size_t length = HEADER_BYTES + get32(in + at + 8) + 1;
      if (have - at < length) break;
      if (in[at] == TYPE_ACK && get32(in + at + 4) == id) acked = get64(in + at + HEADER_BYTES);
      at += length;
    }
    memmove(in, in + at, have - at);
    have -= at;
  }
}

static void lie(int link, uint32_t id, const char *name) {
  static uint8_t zeros[PAYLOAD_MAX];
  uint8_t word[8];
  link_flush(link);
#define IS(wanted) (!strcmp(name, wanted))
  if (IS("opened-as-agent")) say(link, TYPE_OPENED, 0, id, word, put32(word, 1) - word);
  if (!channel_find(id)) say(link, TYPE_OPENED, 0, id, word, put32(word, 100) - word);
  if (IS("reply-to-nothing")) say(link, TYPE_REPLY, 0, 77, zeros, 4);
  if (IS("other-channel")) say(link, TYPE_DATA, 1, id ^ 1, "x", 1);
  if (IS("exits-twice")) {
    say(link, TYPE_EXITED, 0, id, zeros, 4);
    say(link, TYPE_EXITED, 0, id, zeros, 4);
  }
  if (IS("wrong-count")) say(link, TYPE_EXITED, 0, id, "\0\0\7\0name", 9);
  if (IS("credit")) say(link, TYPE_ACK, 0, id, word, put64(word, 1ull << 40) - word);
  if (IS("huge-frame")) {
    uint8_t head[HEADER_BYTES] = {TYPE_DATA, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    shout(link, head, sizeof head);
  }
  if (IS("beyond-window")) flood(link, TYPE_DATA, 1, id, zeros, 32768);
  if (IS("endless-log")) flood(link, TYPE_LOG, 0, 0, "line", 4);
  if (IS("endless-memory")) flood(link, TYPE_OUT_OF_MEMORY, 0, 0, "\5\0\0\0name", 8);
  if (IS("zeros")) for (;;) shout(link, zeros, sizeof zeros);
  if (IS("crumbs")) flood_crumbs(link, id);
  /* The host has closed the program, and is told so by nobody. */
  if (IS("after-close")) flood(link, TYPE_ACK, 0, id, zeros, 8);
  if (IS("after-close-output")) flood(link, TYPE_DATA, 1, id, zeros, 32768);
  /* Neither programs nor calls are served any more, and no power button. */
  if (IS("hang")) for (;;) pause();
}

/* Returns the name of the lie that a request asks for, or null. */
static const char *wanted_lie(const uint8_t *payload, uint32_t length) {
  static char name[NAME_MAX_BYTES];
  const char *mark = "/lie/";
  for (uint32_t at = 0; at + 5 < length; at++) {
    if (memcmp(payload + at, mark, 5)) continue;
    size_t used = 0;
    for (at += 5; at < length && payload[at] > ' ' && used + 1 < sizeof name; at++) name[used++] = payload[at];
    name[used] = 0;
    return name;
  }
  return 0;
}

void channel_frame(int link, int type, int stream, int flags, uint32_t id, uint8_t *payload, uint32_t length) {
  const char *name = type == TYPE_OPEN ? wanted_lie(payload, length) : 0;
  if (name && !strncmp(name, "later-", 6)) {
    strcpy(armed, name + 6);
    armed_id = id;
  } else if (name && !strncmp(name, "after-close", 11)) {
    strcpy(armed, name);
    armed_id = kept_open_id = id;
    uint8_t word[4];
    say(link, TYPE_OPENED, 0, id, word, put32(word, 100) - word);
    say(link, TYPE_END, 1, id, 0, 0);
    say(link, TYPE_END, 2, id, 0, 0);
    say(link, TYPE_EXITED, 0, id, "\0\0\0", 4);
    return;
  } else if (name) {
    lie(link, id, name);
    return;
  }
  if (type == TYPE_CLOSE && kept_open_id && id == kept_open_id) {
    lie(link, id, armed);
    return;
  }
  honest_frame(link, type, stream, flags, id, payload, length);
  if (type == TYPE_ATTACH && armed[0] && id == armed_id && !kept_open_id) {
    channels_move();
    lie(link, id, armed);
  }
}
