/*
 * Tells the host which process the kernel killed because memory ran out. The kernel's log says so; a line that a program
 * wrote into it has another facility, so no program can make one up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

#define EVENTS_MAX 64

static int log_fd = -1;
static struct { uint32_t channel, pid; char name[NAME_BYTES_MAX + 1]; } events[EVENTS_MAX];
static int event_count;
static int chosen_pid, chosen_group = -1;

void watch_kernel_log(void) {
  log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (log_fd < 0) return;
  lseek(log_fd, 0, SEEK_END);
  watch(log_fd, EVENT_KERNEL_LOG, 0, 0);
}

static char *last_of(char *text, const char *wanted) {
  char *found = 0;
  for (char *at = text; (at = strstr(at, wanted)); at++) found = at;
  return found;
}

static int group_in(const char *path) {
  const char *group = strstr(path, "/p");
  return group ? atoi(group + 2) : -1;
}

/* While the killed process is not gone, the kernel still knows its group. */
static int group_of(int pid) {
  char text[256];
  snprintf(text, sizeof text, "/proc/%d/cgroup", pid);
  int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length > 0 ? length : 0] = 0;
  return group_in(text);
}

static void killed(int pid, const char *name, size_t length) {
  int group = pid == chosen_pid ? chosen_group : group_of(pid);
  if (event_count == EVENTS_MAX) {
    memmove(events, events + 1, sizeof events - sizeof events[0]);
    event_count--;
  }
  if (length > NAME_BYTES_MAX) length = NAME_BYTES_MAX;
  events[event_count].pid = pid;
  events[event_count].channel = 0;
  memcpy(events[event_count].name, name, length);
  events[event_count].name[length] = 0;
  for (int i = 0; i < channels_used; i++) {
    struct channel *channel = &channels[i];
    if (channel->kind != CHANNEL_PROGRAM || group < 0 || channel->group != group) continue;
    events[event_count].channel = channel->id;
    if (channel->killed_count < KILLED_NAMES_MAX) strcpy(channel->killed[channel->killed_count++], events[event_count].name);
  }
  event_count++;
}

static void read_record(char *record) {
  if (atoi(record) >> 3) return;
  char *text = strchr(record, ';'), *end;
  if (!text) return;
  if (!strncmp(++text, "oom-kill:", 9)) {
    char *group = strstr(text, "task_memcg="), *pid = last_of(text, ",pid=");
    chosen_group = group ? group_in(group) : -1;
    chosen_pid = pid ? atoi(pid + 5) : 0;
    return;
  }
  char *at = strstr(text, "Killed process "), *name = at ? strchr(at, '(') : 0;
  if (name && (end = last_of(name, ") total-vm:"))) killed(atoi(at + 15), name + 1, end - name - 1);
}

void read_kernel_log(void) {
  static char record[8192];
  while (log_fd >= 0) {
    ssize_t length = read(log_fd, record, sizeof record - 1);
    if (length < 0 && (errno == EPIPE || errno == EINTR)) continue; /* Older records were overwritten. */
    if (length <= 0) return;
    record[length] = 0;
    read_record(record);
  }
}

void send_memory_events(void) {
  while (event_count && links[0].in_sync && link_room(&links[0]) > 1024) {
    uint8_t payload[4 + NAME_BYTES_MAX];
    size_t length = strlen(events[0].name);
    memcpy(put32(payload, events[0].pid), events[0].name, length);
    send_frame(0, TYPE_OUT_OF_MEMORY, 0, events[0].channel, payload, 4 + length);
    memmove(events, events + 1, sizeof events - sizeof events[0]);
    event_count--;
  }
}
