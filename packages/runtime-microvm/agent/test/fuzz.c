/*
 * Feeds mutated frames to the agent's link and channels, and checks what they send: a test compiles this with the agent's
 * sources and the sanitizers of gcc. Nothing of it starts a program or changes the machine: `fuzz SEED FRAMES`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../agent.h"

#define IDS 12
#define READERS_MAX 64
#define BUFFER_BYTES 262144

int is_bare = 1, loop_fd = -1, machine_runs = 1, root_fd = -1, groups_fd = -1;
static uint64_t state;
static int ports[LINKS]; /* Where the host writes. */
static int next_pid = 100, readers[READERS_MAX], reader_count;
static unsigned long opened, handled;

static uint32_t draw(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return below ? (uint32_t)(state >> 11) % below : 0;
}

static void fail(const char *what) {
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/* ---- in place of the machine ---- */

int watch(int fd, int kind, uint32_t index, uint32_t generation) {
  (void)fd, (void)kind, (void)index, (void)generation;
  return 0;
}
uint64_t now_ms(void) { return 0; }
void later(int ms) { (void)ms; }
void read_kernel_log(void) {}
void program_signal(struct channel *channel, int target, int signal) { (void)channel, (void)target, (void)signal; }
void group_forget(int number) { (void)number; }
void groups_kill_all(int signal) { (void)signal; }
int groups_are_empty(void) { return 0; }
int machine_go(const struct config *config, const char **what) {
  *what = value_of(config, "hostname");
  for (const char *disk = 0; (disk = next_of(config, "disk", disk));) handled += strlen(disk);
  return EALREADY;
}
int grow_root(uint64_t *bytes) { return *bytes = 0, EBADF; }
const char *network_up(const char *address, const char *mask, const char *gateway, const char *mac, const char *mtu) {
  return *address || *mask || *gateway || *mac || *mtu ? "network" : 0;
}
uint64_t memory_of(const char *name) { return strlen(name); }
uint32_t list_processes(uint32_t after, uint8_t *into, uint32_t room) {
  uint32_t length = after % (room + 1);
  memset(into, 1, length);
  return length;
}
uint32_t list_programs(uint32_t after, uint8_t *into, uint32_t room) { return list_processes(after, into, room); }
int fuzz_set_name(const char *name, size_t length) { return (name[0] ^ name[length - 1]) & 1 ? -1 : 0; }
void fuzz_sync(void) {}

int socket_open(struct channel *channel, int port, int is_ipv6) {
  (void)is_ipv6;
  if (port % 3 == 0) return ECONNREFUSED;
  channel->input.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  channel->outputs[0].fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  return 0;
}

/* A program that writes endlessly, and reads now and then. */
int program_open(struct channel *channel, const struct open_request *request, const char **what) {
  size_t length = strlen(request->cwd) + strlen(request->executable);
  for (char **each = request->argv; *each; each++) length += strlen(*each);
  for (char **each = request->env; *each; each++) length += strlen(*each);
  handled += length;
  *what = request->argv[0];
  if (length % 7 == 0) return ENOENT;
  int ends[2];
  if (pipe2(ends, O_NONBLOCK | O_CLOEXEC)) fail("no pipe");
  channel->flags = request->flags & (OPEN_WAITS_FOR_OUTPUTS | OPEN_PLATFORM);
  channel->input.fd = ends[1];
  if (reader_count == READERS_MAX) close(readers[--reader_count]);
  readers[reader_count++] = ends[0];
  for (int i = 0; i < 2; i++) channel->outputs[i].fd = open(i ? "/dev/null" : "/dev/zero", O_RDONLY | O_CLOEXEC);
  channel->outputs[0].readable = channel->outputs[1].readable = 1;
  channel->pid = next_pid++;
  channel->opened_due = 1;
  opened++;
  return 0;
}

void program_started(struct channel *channel) { (void)channel; }

/* ---- frames ---- */

static const uint8_t known_types[] = {TYPE_HELLO, TYPE_OPEN, TYPE_DIAL, TYPE_ATTACH, TYPE_CLOSE, TYPE_SIGNAL,
                                      TYPE_RESIZE, TYPE_CALL, TYPE_DATA, TYPE_DATA, TYPE_DATA, TYPE_END, TYPE_ACK, TYPE_ACK};

static uint32_t make_payload(uint8_t type, uint32_t id, int stream, uint8_t *at) {
  const struct channel *channel = channel_find(id);
  uint8_t *begin = at;
  switch (type) {
    case TYPE_HELLO: memset(put16(put16(at, 1), 1), 7, NONCE_BYTES); return 4 + NONCE_BYTES;
    case TYPE_OPEN: {
      uint32_t arguments = 1 + draw(4), variables = draw(4);
      at = put32(put32(put32(at, draw(8)), 1000), 1000);
      at = put32(put32(put32(put32(put32(at, draw(65536)), 0), 0), arguments), variables);
      for (uint32_t i = 0; i < 2 + arguments + variables; i++) at += sprintf((char *)at, "/%u", draw(100000)) + 1;
      return at - begin;
    }
    case TYPE_DIAL: return put16(at, draw(65536)) - begin;
    case TYPE_ATTACH:
      for (int i = 0; i < 2; i++) {
        uint64_t taken = channel ? channel->outputs[i].acked : 0;
        at = put64(put64(at, taken), channel && draw(2) ? taken + draw(WINDOW_BYTES) : UINT64_MAX);
      }
      return at - begin;
    case TYPE_SIGNAL: return put16(at, draw(65536)) - begin;
    case TYPE_RESIZE: return put32(at, draw(0)) - begin;
    case TYPE_CALL:
      if (draw(2)) return sprintf((char *)at, "hostname=%u%cdisk=a%centropy=a0%c", draw(9999), 0, 0, 0);
      return put32(at, draw(70000)) - begin;
    case TYPE_DATA: {
      uint32_t length = draw(4) ? draw(600) : draw(PAYLOAD_MAX + 1);
      memset(at, length, length);
      return length;
    }
    case TYPE_ACK: {
      uint64_t read = channel && (stream == 1 || stream == 2) ? channel->outputs[stream - 1].sent : 0;
      return put64(at, read - draw(2) * draw(1000)) - begin;
    }
  }
  return 0;
}

static size_t make_frame(uint8_t *at) {
  uint8_t type = known_types[draw(draw(40) ? sizeof known_types : 1)];
  if (type == TYPE_HELLO && draw(20)) type = TYPE_OPEN;
  uint32_t id = 1 + draw(IDS);
  int stream = type == TYPE_CALL ? 1 + draw(14) : type == TYPE_ACK ? 1 + draw(2) : type == TYPE_END ? draw(3) : 0;
  uint32_t length = make_payload(type, id, stream, at + HEADER_BYTES);
  at[0] = type;
  at[1] = stream;
  put16(at + 2, type == TYPE_OPEN && draw(8) == 0 ? FLAG_MORE : 0);
  put32(at + 4, type == TYPE_HELLO ? 0 : id);
  put32(at + 8, length);
  at[HEADER_BYTES + length] = END_BYTE;
  length += HEADER_BYTES + 1;
  /* Half of the frames are mutated: a few bits, or their length. */
  if (draw(2))
    for (uint32_t i = 1 + draw(3); i--;) at[draw(draw(2) ? HEADER_BYTES : length)] ^= 1 << draw(8);
  return draw(50) ? length : draw(length);
}

/* The host gets whole frames only, with lengths and types that it knows, however it was treated. */
static void check_queue(struct link *link) {
  uint8_t *at = link->out + link->out_start, *end = at + link->out_length;
  if (link->out_start + link->out_length > QUEUE_BYTES) fail("the queue overflowed");
  while (at < end) {
    if (end - at < HEADER_BYTES + 1) fail("half a header");
    uint32_t length = get32(at + 8);
    if (length > PAYLOAD_MAX || (size_t)(end - at) < HEADER_BYTES + (size_t)length + 1) fail("half a frame");
    int known = at[0] == TYPE_DATA || at[0] == TYPE_END || at[0] == TYPE_ACK ||
                (at[0] >= TYPE_WELCOME && at[0] <= TYPE_OUT_OF_MEMORY);
    if (!known || at[HEADER_BYTES + length] != END_BYTE) fail("no frame");
    at += HEADER_BYTES + length + 1;
  }
  link->out_start = link->out_length = 0;
}

static void check_channels(void) {
  for (int i = 0; i < channels_used; i++) {
    const struct channel *channel = &channels[i];
    if (channel->kind == CHANNEL_FREE) continue;
    const struct input *input = &channel->input;
    if (input->taken > input->received || input->received - input->taken > WINDOW_BYTES) fail("the input's window");
    for (int stream = 0; stream < 2; stream++) {
      const struct output *output = &channel->outputs[stream];
      if (output->acked > output->sent || output->sent > output->read || output->read - output->acked > WINDOW_BYTES)
        fail("an output's window");
    }
  }
}

static void happen(void) {
  static uint8_t dropped[65536];
  if (draw(30) == 0 && channels_used) program_ended(channels[draw(channels_used)].pid, draw(65536));
  if (draw(5) == 0 && reader_count) {
    int at = draw(reader_count);
    if (draw(10)) (void)!read(readers[at], dropped, sizeof dropped);
    else {
      close(readers[at]);
      readers[at] = readers[--reader_count];
    }
  }
  for (int i = 0; i < channels_used; i++) {
    struct channel *channel = &channels[i];
    if (channel->kind == CHANNEL_FREE) continue;
    if (channel->connecting && draw(3) == 0) {
      channel->connecting = 0;
      channel->connect_error = draw(2) ? ECONNREFUSED : 0;
    }
    channel->input.writable = 1;
    channel_output_ready(channel, draw(2), 0);
  }
}

/* Writes to a port, whose link is served until it has taken everything. */
static void feed(int index, const uint8_t *bytes, size_t length) {
  while (length) {
    ssize_t wrote = write(ports[index], bytes, length);
    if (wrote < 0 && errno != EAGAIN) fail("the port is closed");
    if (wrote > 0) {
      bytes += wrote;
      length -= wrote;
    }
    links[index].readable = 1;
    link_receive(index);
    if (length) check_queue(&links[index]);
  }
}

int main(int count, char **arguments) {
  static uint8_t buffer[BUFFER_BYTES];
  if (count != 3) return 2;
  signal(SIGPIPE, SIG_IGN);
  state = strtoull(arguments[1], 0, 10) * 2654435761u + 88172645463325252u;
  unsigned long frames = strtoul(arguments[2], 0, 10);
  for (int i = 0; i < LINKS; i++) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC)) fail("no pipe");
    links[i].fd = ends[0];
    ports[i] = ends[1];
  }
  static uint8_t hello[HEADER_BYTES + 4 + NONCE_BYTES + 1] = {TYPE_HELLO, [8] = 4 + NONCE_BYTES, [12] = 1, [14] = 1,
                                                              [HEADER_BYTES + 4 + NONCE_BYTES] = END_BYTE};
  for (unsigned long i = 0; i < frames; i++) {
    int link = draw(8) == 0;
    /* As a new connection does: zeros end what was half, and a greeting follows. */
    if (!links[link].in_sync && draw(3) == 0) {
      memset(buffer, 0, HEADER_BYTES + PAYLOAD_MAX + 1);
      feed(link, buffer, HEADER_BYTES + PAYLOAD_MAX + 1);
      feed(link, hello, sizeof hello);
      for (int turn = 0; turn < 8 && !links[link].in_sync; turn++) {
        check_queue(&links[link]);
        links[link].readable = 1;
        link_receive(link);
      }
      if (!links[link].in_sync) fail("a greeting was not heard");
    }
    size_t length = make_frame(buffer);
    feed(link, buffer, length);
    happen();
    if (draw(4) == 0) {
      channels_move();
      check_channels();
    }
    if (draw(3)) {
      check_queue(&links[link]);
      link_receive(link); /* What waited for room. */
    }
  }
  for (int i = 0; i < LINKS; i++) check_queue(&links[i]);
  printf("%lu frames, %lu programs\n", frames, opened);
  return 0;
}
