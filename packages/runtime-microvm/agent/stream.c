/*
 * The streams of programs and connections. They have positions, so the host can take them up again on a new connection
 * without a byte lost or doubled: an output stays in its ring until the host acknowledged it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"

#define OUTPUT_BYTES 32768 /* Of one frame. */
#define TURN_BYTES 131072  /* That one output may read before others get their turn. */
#define SPARE_RINGS 8

static uint8_t *spare_rings[SPARE_RINGS];
static int spare_count;

static uint8_t *ring_bytes(struct ring *ring) {
  if (!ring->bytes) ring->bytes = spare_count ? spare_rings[--spare_count] : malloc(WINDOW_BYTES);
  return ring->bytes;
}

void ring_release(struct ring *ring) {
  if (ring->bytes) {
    if (spare_count < SPARE_RINGS) spare_rings[spare_count++] = ring->bytes;
    else free(ring->bytes);
  }
  ring->bytes = 0;
}

/* Returns how many bytes from `position` on lie in one piece of the ring, at most `wanted`. */
static size_t ring_piece(uint64_t position, uint64_t wanted) {
  size_t room = WINDOW_BYTES - position % WINDOW_BYTES;
  return wanted < room ? (size_t)wanted : room;
}

void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* ---- input ---- */

static void input_close(struct channel *channel) {
  struct input *input = &channel->input;
  close_fd(&input->fd);
  ring_release(&input->ring);
  input->taken = input->received;
}

static void input_end(struct channel *channel) {
  struct input *input = &channel->input;
  if (channel->kind == CHANNEL_SOCKET) shutdown(input->fd, SHUT_WR);
  if (channel->flags & OPEN_TERMINAL) {
    struct termios settings;
    char end = tcgetattr(input->fd, &settings) ? 4 : settings.c_cc[VEOF];
    /* In the middle of a line, the first one only hands the line over. */
    int needed = input->received && input->last_byte != '\n' ? 2 : 1;
    while (needed--) (void)!write(input->fd, &end, 1);
    input->end_wanted = 0;
    input->has_ended = 1;
    return;
  }
  input_close(channel);
}

void input_move(struct channel *channel) {
  struct input *input = &channel->input;
  while (input->fd >= 0 && input->writable && input->taken < input->received) {
    size_t piece = ring_piece(input->taken, input->received - input->taken);
    ssize_t wrote = write(input->fd, input->ring.bytes + input->taken % WINDOW_BYTES, piece);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) input->writable = 0;
    else if (wrote < 0) input_close(channel);
    else input->taken += wrote;
  }
  if (input->taken == input->received) {
    ring_release(&input->ring);
    if (input->fd >= 0 && input->end_wanted && !channel->connecting) input_end(channel);
  }
}

void input_take(struct channel *channel, const uint8_t *bytes, uint32_t length) {
  struct input *input = &channel->input;
  if (input->end_wanted || input->received + length > input->taken + WINDOW_BYTES) {
    log_line("channel %u: the host sent more input than it may", channel->id);
    return;
  }
  if (length) input->last_byte = bytes[length - 1];
  if (input->fd >= 0 && input->taken == input->received && !channel->connecting) {
    ssize_t wrote = write(input->fd, bytes, length);
    if (wrote < 0 && errno != EAGAIN && errno != EINTR) input_close(channel);
    if (wrote > 0) {
      input->taken += wrote;
      input->received += wrote;
      bytes += wrote;
      length -= wrote;
    }
  }
  if (!length) return;
  if (input->fd < 0 || !ring_bytes(&input->ring)) {
    input->received += length;
    input_close(channel);
    return;
  }
  while (length) {
    size_t piece = ring_piece(input->received, length);
    memcpy(input->ring.bytes + input->received % WINDOW_BYTES, bytes, piece);
    input->received += piece;
    bytes += piece;
    length -= piece;
  }
}

/* ---- outputs ---- */

int output_is_over(const struct output *output) { return output->fd < 0 || output->left == 0 || output->is_dropped; }

/* The stream has ended for the host. A process that the program left behind may still hold the pipe: it is read and dropped. */
void output_over(struct channel *channel, struct output *output) {
  output->left = 0;
  if (output->hung_up || channel->kind == CHANNEL_SOCKET) close_fd(&output->fd);
}

void output_read(struct channel *channel, struct output *output) {
  static uint8_t dropped[OUTPUT_BYTES];
  size_t turn = 0;
  while (output->fd >= 0 && output->readable && turn < TURN_BYTES) {
    uint8_t *into = dropped;
    size_t piece = sizeof dropped;
    int drops = output_is_over(output);
    if (!drops) {
      uint64_t room = WINDOW_BYTES - (output->read - output->acked);
      piece = ring_piece(output->read, room);
      if (output->left >= 0 && piece > (uint64_t)output->left) piece = output->left;
      if (!piece) return;
      if (!ring_bytes(&output->ring)) return;
      into = output->ring.bytes + output->read % WINDOW_BYTES;
    }
    ssize_t got = read(output->fd, into, piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      output->readable = 0;
      /* Nothing of the program is left in it. */
      if (output->left > 0) output_over(channel, output);
      return;
    }
    if (got <= 0) {
      output->hung_up = 1;
      close_fd(&output->fd);
      return;
    }
    turn += got;
    if (drops) continue;
    output->read += got;
    if (output->left > 0) output->left -= got;
    if (output->left == 0) output_over(channel, output);
    else if ((size_t)got < piece && !output->hung_up) output->readable = 0;
  }
  if (turn >= TURN_BYTES) later(0);
}

/* Sends what fits. Returns 0 if the link is full. */
int output_send(struct channel *channel, int stream) {
  struct output *output = &channel->outputs[stream];
  struct link *link = &links[channel->link];
  while (output->sent < output->read) {
    size_t room = link_room(link);
    if (room < HEADER_BYTES + 1 + 4096) return 0;
    size_t piece = ring_piece(output->sent, output->read - output->sent);
    if (piece > OUTPUT_BYTES) piece = OUTPUT_BYTES;
    if (piece > room - HEADER_BYTES - 1) piece = room - HEADER_BYTES - 1;
    uint8_t *at = reserve_frame(channel->link, piece);
    if (!at) return 0;
    memcpy(at, output->ring.bytes + output->sent % WINDOW_BYTES, piece);
    commit_frame(channel->link, TYPE_DATA, stream + 1, channel->id, piece);
    output->sent += piece;
  }
  return 1;
}

void channel_output_ready(struct channel *channel, int stream, int hung_up) {
  channel->outputs[stream].readable = 1;
  if (hung_up) channel->outputs[stream].hung_up = 1;
}

void output_acked(struct channel *channel, int stream, uint64_t position) {
  struct output *output = &channel->outputs[stream];
  if (output->is_dropped) return;
  if (position < output->acked || position > output->sent) {
    log_line("channel %u: the host acknowledged what it did not get", channel->id);
    return;
  }
  output->acked = position;
  if (position == output->read) ring_release(&output->ring);
}

/* The host does not want the rest. A program that writes to a pipe of which nobody reads gets SIGPIPE, as on any machine. */
void output_unwanted(struct channel *channel, int stream) {
  struct output *output = &channel->outputs[stream];
  output->is_dropped = 1;
  output->acked = output->sent = output->read;
  ring_release(&output->ring);
  if (!(channel->flags & OPEN_TERMINAL)) close_fd(&output->fd);
}

