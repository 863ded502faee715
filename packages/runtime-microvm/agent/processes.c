/* Signals to programs, and the lists of processes and programs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"

#define KERNEL_THREADS 2 /* The parent of all threads of the kernel. */
#define PROCESS_HEAD 14
#define PROGRAM_BYTES 12

/* True if a process has one of the program's pipes open. */
static int holds_pipe(const struct channel *channel, pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR *folder = opendir(path);
  if (!folder) return 0;
  int holds = 0;
  struct stat status;
  for (struct dirent *entry; !holds && (entry = readdir(folder));)
    if (!fstatat(dirfd(folder), entry->d_name, &status, 0) && S_ISFIFO(status.st_mode))
      for (int i = 0; i < 3; i++) holds |= status.st_ino == channel->pipes[i];
  closedir(folder);
  return holds;
}

static void signal_attached(const struct channel *channel, int signal) {
  DIR *folder = opendir("/proc");
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    pid_t pid = atoi(entry->d_name);
    if (pid <= 1 || getpgid(pid) != channel->pid) continue;
    if ((pid == channel->pid && !channel->has_ended) || holds_pipe(channel, pid)) kill(pid, signal);
  }
  closedir(folder);
}

static void signal_group(const struct channel *channel, int signal) {
  pid_t foreground = 0;
  int hangs_up = channel->flags & OPEN_TERMINAL && signal == SIGHUP;
  /* As the hang-up of a terminal does. Stopped programs must run to notice it. */
  if (hangs_up && channel->outputs[0].fd >= 0) ioctl(channel->outputs[0].fd, TIOCGPGRP, &foreground);
  if (foreground > 1 && foreground != channel->pid) {
    kill(-foreground, signal);
    kill(-foreground, SIGCONT);
  }
  /* Once the program has ended, its number may be that of another process. */
  if (channel->has_ended) group_signal(channel->group, signal, channel->pid);
  else {
    kill(-channel->pid, signal);
    if (hangs_up) kill(-channel->pid, SIGCONT);
  }
}

void program_signal(struct channel *channel, int target, int signal) {
  if (signal < 1 || signal > 64) return;
  switch (target) {
    case TARGET_PROCESS:
      if (!channel->has_ended) kill(channel->pid, signal);
      return;
    case TARGET_ATTACHED:
      if (!(channel->flags & OPEN_TERMINAL)) {
        signal_attached(channel, signal);
        return;
      }
      signal_group(channel, signal);
      return;
    case TARGET_GROUP: signal_group(channel, signal); return;
    case TARGET_TREE:
      if (channel->group < 0) signal_group(channel, signal);
      else if (signal == SIGKILL) group_kill(channel->group);
      else group_signal(channel->group, signal, 0);
  }
}

static int read_process(pid_t pid, char *name, uint32_t *parent, uint32_t *uid) {
  char text[1024];
  snprintf(text, sizeof text, "/proc/%d/status", pid);
  int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length < 6) return -1;
  text[length] = 0;
  const char *parent_at = strstr(text, "\nPPid:\t"), *uid_at = strstr(text, "\nUid:\t");
  if (!parent_at || !uid_at) return -1;
  *parent = strtoul(parent_at + 7, 0, 10);
  *uid = strtoul(uid_at + 6, 0, 10);
  size_t bytes = strcspn(text + 6, "\n");
  if (bytes > NAME_BYTES_MAX) bytes = NAME_BYTES_MAX;
  memcpy(name, text + 6, bytes);
  name[bytes] = 0;
  return 0;
}

static int read_group(const char *path, char *group, size_t room) {
  char text[4096];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length < 0 ? 0 : length] = 0;
  const char *at = strstr(text, "0::");
  if (!at) return -1;
  snprintf(group, room, "%.*s", (int)strcspn(at, "\n"), at);
  return 0;
}

/* What a service started, also when the service is forgotten, is in the agent's own control group as the service is. */
static int is_platform(pid_t pid) {
  if (pid == 1) return 1;
  char path[64], own[1024], group[1024];
  snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
  return groups_fd >= 0 && !read_group("/proc/self/cgroup", own, sizeof own) && !read_group(path, group, sizeof group) &&
         !strcmp(own, group);
}

/* Writes the processes with a number above `after`, in order, as many as fit: pid, parent, uid u32; flags, length u8; name. */
uint32_t list_processes(uint32_t after, uint8_t *into, uint32_t room) {
  uint8_t *at = into;
  DIR *folder = opendir("/proc");
  if (!folder) return 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[NAME_BYTES_MAX + 1];
    uint32_t pid = atoi(entry->d_name), parent, uid;
    if (pid <= after || pid == KERNEL_THREADS || read_process(pid, name, &parent, &uid)) continue;
    if (parent == KERNEL_THREADS && !is_bare) continue;
    if (at + PROCESS_HEAD + NAME_BYTES_MAX > into + room) break;
    at = put32(put32(put32(at, pid), parent), uid);
    *at++ = is_platform(pid) ? PROCESS_PLATFORM : 0;
    *at++ = strlen(name);
    memcpy(at, name, strlen(name));
    at += strlen(name);
  }
  closedir(folder);
  return at - into;
}

/* Writes the programs with a channel above `after` that fit: channel, pid, state u32. Their order is that of channels. */
uint32_t list_programs(uint32_t after, uint8_t *into, uint32_t room) {
  uint8_t *at = into;
  while (at + PROGRAM_BYTES <= into + room) {
    const struct channel *next = 0;
    for (int i = 0; i < channels_used; i++) {
      const struct channel *each = &channels[i];
      if (each->kind == CHANNEL_PROGRAM && each->id > after && (!next || each->id < next->id)) next = each;
    }
    if (!next) break;
    after = next->id;
    at = put32(put32(at, next->id), next->pid);
    at = put32(at, (next->flags & OPEN_TERMINAL ? STATE_TERMINAL : 0) | (next->has_ended ? STATE_ENDED : 0));
  }
  return at - into;
}
