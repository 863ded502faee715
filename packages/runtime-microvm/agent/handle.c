/* What the host asks of channels: each frame is checked, and a wrong one changes nothing. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "agent.h"

/* Requests that take several frames. */
static uint8_t requests[LINKS][OPEN_BYTES_MAX];
static size_t request_length[LINKS];
static uint32_t request_id[LINKS];

void channel_refuse(int link, uint32_t id, int why, const char *what, int error) {
  uint8_t text[TEXT_BYTES_MAX];
  text[0] = why;
  size_t length = 1;
  const char *parts[] = {what, error ? ": " : "", error ? strerror(error) : ""};
  for (int i = 0; i < 3; i++)
    for (const char *at = parts[i]; *at && length < sizeof text; at++) text[length++] = *at;
  send_frame(link, TYPE_REFUSED, 0, id, text, length);
}

void channels_detach(int link) {
  for (int i = 0; i < channels_used; i++) {
    struct channel *channel = &channels[i];
    if (channel->kind == CHANNEL_FREE || channel->link != link) continue;
    channel->link = -1;
    if (channel->kind == CHANNEL_SOCKET) channel_free(channel);
  }
  request_length[link] = 0;
}

static void handle_open(int link, int flags, uint32_t id, uint8_t *payload, uint32_t length) {
  if (request_length[link] && request_id[link] != id) request_length[link] = 0;
  if (flags & FLAG_MORE || request_length[link]) {
    if (request_length[link] + length > OPEN_BYTES_MAX) {
      request_length[link] = 0;
      channel_refuse(link, id, REFUSED_LIMIT, "the request is too long", 0);
      return;
    }
    memcpy(requests[link] + request_length[link], payload, length);
    request_length[link] += length;
    request_id[link] = id;
    if (flags & FLAG_MORE) return;
    payload = requests[link];
    length = request_length[link];
    request_length[link] = 0;
  }
  struct open_request request;
  if (!id || channel_find(id) || !parse_open(payload, length, &request)) {
    channel_refuse(link, id, REFUSED_REQUEST, "not a request", 0);
    return;
  }
  struct channel *channel = channel_new(link, id, CHANNEL_PROGRAM);
  if (!channel) {
    channel_refuse(link, id, REFUSED_LIMIT, "too many programs", 0);
    return;
  }
  const char *what;
  int error = program_open(channel, &request, &what);
  if (error) {
    channel_free(channel);
    channel_refuse(link, id, REFUSED_LIMIT, what, error);
    return;
  }
  program_started(channel);
  if (channel->kind != CHANNEL_FREE) channel_watch(channel);
}

static void handle_dial(int link, uint32_t id, const uint8_t *payload, uint32_t length) {
  struct channel *channel = 0;
  if (length == 2 && id && !channel_find(id)) channel = channel_new(link, id, CHANNEL_SOCKET);
  if (!channel) {
    channel_refuse(link, id, REFUSED_LIMIT, "no connection", 0);
    return;
  }
  int error = socket_open(channel, get16(payload), 0);
  if (error) {
    channel_free(channel);
    channel_refuse(link, id, REFUSED_CONNECTION, "connect", error);
    return;
  }
  channel_watch(channel);
}

/* The host says of each output what its reader took, and from where it wants the rest: all ones for what is still here. */
static void handle_attach(int link, uint32_t id, const uint8_t *payload, uint32_t length) {
  struct channel *channel = channel_find(id);
  if (!channel || channel->kind != CHANNEL_PROGRAM || length != 32) {
    channel_refuse(link, id, REFUSED_UNKNOWN, "no such program", 0);
    return;
  }
  uint64_t taken[2], wanted[2];
  for (int i = 0; i < 2; i++) {
    struct output *output = &channel->outputs[i];
    taken[i] = get64(payload + i * 16);
    wanted[i] = get64(payload + i * 16 + 8);
    if (wanted[i] == UINT64_MAX) taken[i] = wanted[i] = output->acked;
    if (taken[i] < output->acked || wanted[i] < taken[i] || wanted[i] > output->read) {
      channel_refuse(link, id, REFUSED_REQUEST, "that output is not there any more", 0);
      return;
    }
  }
  for (int i = 0; i < 2; i++) {
    struct output *output = &channel->outputs[i];
    output->sent = wanted[i];
    output->end_sent = 0;
    output_acked(channel, i, taken[i]);
  }
  channel->link = link;
  channel_use(channel);
  channel->exit_sent = channel->opened_due = 0;
  channel->attached_due = 1;
}

void channel_frame(int link, int type, int stream, int flags, uint32_t id, uint8_t *payload, uint32_t length) {
  struct channel *channel = 0;
  switch (type) {
    case TYPE_OPEN: handle_open(link, flags, id, payload, length); return;
    case TYPE_DIAL: handle_dial(link, id, payload, length); return;
    case TYPE_ATTACH: handle_attach(link, id, payload, length); return;
    case TYPE_CALL: machine_call(link, id, stream, payload, length); return;
    case TYPE_CLOSE:
      if ((channel = channel_find(id))) channel_free(channel);
      send_frame(link, TYPE_CLOSED, 0, id, 0, 0);
      return;
    case TYPE_SIGNAL:
      if ((channel = channel_find(id)) && channel->kind == CHANNEL_PROGRAM && length == 2)
        program_signal(channel, payload[0], payload[1]);
      return;
    case TYPE_RESIZE:
      if ((channel = channel_find(id)) && length == 4 && channel->flags & OPEN_TERMINAL && channel->input.fd >= 0) {
        struct winsize size = {.ws_col = get16(payload), .ws_row = get16(payload + 2)};
        ioctl(channel->input.fd, TIOCSWINSZ, &size);
      }
      return;
  }
  /* What follows is for the streams, which belong to one link. */
  channel = channel_find(id);
  if (!channel || channel->link != link) return;
  if (type == TYPE_DATA && stream == 0) input_take(channel, payload, length);
  else if (type == TYPE_END && stream == 0) channel->input.end_wanted = !channel->input.has_ended;
  else if (type == TYPE_END && (stream == 1 || stream == 2)) output_unwanted(channel, stream - 1);
  else if (type == TYPE_ACK && (stream == 1 || stream == 2) && length == 8)
    output_acked(channel, stream - 1, get64(payload));
  else log_line("a frame of unknown type %d", type);
}
