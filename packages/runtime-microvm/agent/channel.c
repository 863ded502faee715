/*
 * Programs and connections as the host sees them: a channel each. A channel outlives the host's connection, and what the
 * host should know of it is state, not a queue: after a new connection it is said again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define SMALL_FRAMES 1024    /* Room for all frames of a channel that are no output. */
#define TERMINAL_BYTES 65536 /* More than a terminal holds when its program ends. */
#define DRAINS_MAX 512

struct channel channels[CHANNELS_MAX];
int channels_used; /* No channel from here on was ever used. */
static uint32_t generations;
static uint64_t uses;

struct channel *channel_find(uint32_t id) {
  for (int i = 0; i < channels_used; i++)
    if (channels[i].kind != CHANNEL_FREE && channels[i].id == id) return &channels[i];
  return 0;
}

/* Outputs that processes hold whose program is forgotten. They are read and dropped, so that the processes go on. */
static int drains[DRAINS_MAX], drain_count;

static void drain(int fd) {
  if (drain_count == DRAINS_MAX) close(fd);
  else {
    drains[drain_count++] = fd;
    watch(fd, EVENT_DRAIN, fd, 0);
  }
}

void drain_ready(int fd) {
  static uint8_t dropped[32768];
  ssize_t got = 1;
  for (int turn = 0; turn < 8 && got > 0; turn++) got = read(fd, dropped, sizeof dropped);
  if (got > 0) watch(fd, EVENT_DRAIN, fd, 0); /* Again, after the others. */
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
  for (int i = 0; i < drain_count; i++)
    if (drains[i] == fd) {
      drains[i] = drains[--drain_count];
      close(fd);
      return;
    }
}

void channel_free(struct channel *channel) {
  close_fd(&channel->starting_fd);
  close_fd(&channel->input.fd);
  ring_release(&channel->input.ring);
  for (int i = 0; i < 2; i++) {
    struct output *output = &channel->outputs[i];
    int is_pipe = channel->kind == CHANNEL_PROGRAM && !(channel->flags & OPEN_TERMINAL);
    if (output->fd >= 0 && is_pipe && channel->pid > 0) drain(output->fd);
    else close_fd(&output->fd);
    output->fd = -1;
    ring_release(&output->ring);
  }
  if (channel->group >= 0) group_forget(channel->group);
  channel->kind = CHANNEL_FREE;
}

/* Of the programs that have ended and that no host has asked for, the one that nobody used for the longest time goes. */
struct channel *channel_new(int link, uint32_t id, enum channel_kind kind) {
  struct channel *found = 0;
  for (int i = 0; i < CHANNELS_MAX && !(found && found->kind == CHANNEL_FREE); i++) {
    struct channel *each = &channels[i];
    int may_go = each->kind == CHANNEL_FREE || (each->has_ended && each->link < 0);
    if (may_go && (!found || each->kind == CHANNEL_FREE || each->seen < found->seen)) found = each;
  }
  if (!found) return 0;
  if (found - channels >= channels_used) channels_used = found - channels + 1;
  if (found->kind != CHANNEL_FREE) channel_free(found);
  memset(found, 0, sizeof *found);
  found->kind = kind;
  found->id = id;
  found->generation = ++generations;
  found->link = link;
  found->seen = ++uses;
  found->group = -1;
  found->starting_fd = found->input.fd = found->outputs[0].fd = found->outputs[1].fd = -1;
  found->outputs[0].left = found->outputs[1].left = -1;
  return found;
}

void channel_use(struct channel *channel) { channel->seen = ++uses; }

void channel_watch(struct channel *channel) {
  uint32_t index = channel - channels;
  if (channel->starting_fd >= 0) watch(channel->starting_fd, EVENT_STARTED, index, channel->generation);
  if (channel->input.fd >= 0) watch(channel->input.fd, EVENT_INPUT, index, channel->generation);
  for (int i = 0; i < 2; i++)
    if (channel->outputs[i].fd >= 0) watch(channel->outputs[i].fd, EVENT_OUTPUT, index * 2 + i, channel->generation);
}

void channel_input_ready(struct channel *channel) {
  channel->input.writable = 1;
  if (channel->connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(channel->input.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    channel->connecting = 0;
    if (!error) channel->opened_due = 1;
    else if (channel->port_of_ipv4) {
      close_fd(&channel->input.fd);
      close_fd(&channel->outputs[0].fd);
      if (socket_open(channel, channel->port_of_ipv4, 1)) channel->connecting = 0;
      channel_watch(channel);
      if (channel->connecting) return;
    }
    channel->connect_error = error;
    if (error) return;
  }
  input_move(channel);
}

void program_ended(pid_t pid, int status) {
  for (int i = 0; i < channels_used; i++) {
    struct channel *channel = &channels[i];
    if (channel->kind != CHANNEL_PROGRAM || channel->has_ended || channel->pid != pid) continue;
    if (channel->starting_fd >= 0) program_started(channel);
    if (channel->kind == CHANNEL_FREE) return;
    channel->has_ended = 1;
    channel->status = status;
    for (int stream = 0; stream < 2; stream++) {
      struct output *output = &channel->outputs[stream];
      if (output->fd < 0 || channel->flags & OPEN_WAITS_FOR_OUTPUTS) continue;
      int left = TERMINAL_BYTES;
      if (!(channel->flags & OPEN_TERMINAL) && ioctl(output->fd, FIONREAD, &left)) left = 0;
      output->readable = 1;
      output->left = left;
      if (!left) output_over(channel, output);
    }
    return;
  }
}

static void send_exit(struct channel *channel) {
  uint8_t payload[4 + KILLED_NAMES_MAX * (NAME_BYTES_MAX + 1)], *at = payload + 4;
  int by_signal = WIFSIGNALED(channel->status);
  payload[0] = by_signal;
  payload[1] = by_signal ? WTERMSIG(channel->status) : WEXITSTATUS(channel->status);
  payload[2] = channel->killed_count;
  payload[3] = 0;
  for (int i = 0; i < channel->killed_count; i++) {
    size_t length = strlen(channel->killed[i]) + 1;
    memcpy(at, channel->killed[i], length);
    at += length;
  }
  send_frame(channel->link, TYPE_EXITED, 0, channel->id, payload, at - payload);
}

static void send_attached(struct channel *channel) {
  uint8_t payload[4 + 4 + 4 * 8];
  uint32_t state = (channel->flags & OPEN_TERMINAL ? STATE_TERMINAL : 0) | (channel->has_ended ? STATE_ENDED : 0) |
                   (channel->kind == CHANNEL_SOCKET ? STATE_SOCKET : 0);
  uint8_t *at = put32(put32(payload, channel->pid), state);
  at = put64(put64(at, channel->input.taken), channel->input.received);
  channel->input.acked = channel->input.taken;
  for (int i = 0; i < 2; i++) at = put64(at, channel->outputs[i].sent);
  send_frame(channel->link, TYPE_ATTACHED, 0, channel->id, payload, sizeof payload);
}

/* Sends everything that the host should know of a channel, as far as there is room. */
static void channel_send(struct channel *channel) {
  if (channel->link < 0 || !links[channel->link].in_sync || channel->connecting || channel->starting_fd >= 0) return;
  struct link *link = &links[channel->link];
  if (link_room(link) < SMALL_FRAMES) return;
  if (channel->connect_error) {
    channel_refuse(channel->link, channel->id, REFUSED_CONNECTION, "connect", channel->connect_error);
    channel_free(channel);
    return;
  }
  uint8_t word[8];
  if (channel->opened_due) send_frame(channel->link, TYPE_OPENED, 0, channel->id, word, put32(word, channel->pid) - word);
  if (channel->attached_due) send_attached(channel);
  channel->opened_due = channel->attached_due = 0;
  struct input *input = &channel->input;
  if (input->taken - input->acked >= WINDOW_BYTES / 4 || (input->fd < 0 && input->taken > input->acked)) {
    send_frame(channel->link, TYPE_ACK, 0, channel->id, word, put64(word, input->taken) - word);
    input->acked = input->taken;
  }
  if (channel->has_ended && !channel->exit_sent) {
    send_exit(channel);
    channel->exit_sent = 1;
  }
  for (int i = 0; i < 2; i++) {
    struct output *output = &channel->outputs[i];
    if (!output_send(channel, i)) return;
    if (output_is_over(output) && !output->end_sent && link_room(link) >= SMALL_FRAMES) {
      send_frame(channel->link, TYPE_END, i + 1, channel->id, 0, 0);
      output->end_sent = 1;
    }
  }
}

void channels_move(void) {
  static uint32_t first;
  first++;
  for (int i = 0; i < channels_used; i++) {
    struct channel *channel = &channels[(first + i) % channels_used];
    if (channel->kind == CHANNEL_FREE) continue;
    if (channel->input.taken < channel->input.received || channel->input.end_wanted) input_move(channel);
    /* A read would take the error of a connection that is not there yet. */
    int is_connected = !channel->connecting && !channel->connect_error;
    for (int stream = 0; stream < 2 && is_connected; stream++) output_read(channel, &channel->outputs[stream]);
    channel_send(channel);
  }
}

