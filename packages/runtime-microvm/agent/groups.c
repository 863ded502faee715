/*
 * Control groups: each program has one of its own, so that its whole tree can be killed, and all of them lie in one group
 * whose memory is limited, so that the kernel kills a program instead of the agent when memory runs out.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

#define READY_MAX 4 /* Groups made ahead: a start need not wait for one. */
#define SWEEP_MS 2000 /* Doubles while processes stay in their groups. */
#define SWEEP_MS_MAX 120000
#define MOUNT_POINT "/sys/fs/cgroup"
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

int groups_fd = -1;
static int next_number, may_sweep, sweep_ms = SWEEP_MS;
static struct { int number, fd; } ready[READY_MAX];
static int ready_count;

static int write_at(int folder, const char *file, const char *text) {
  int fd = openat(folder, file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t wrote = write(fd, text, strlen(text));
  close(fd);
  return wrote < 0 ? -1 : 0;
}

static const char *group_name(char *into, int number, const char *file) {
  snprintf(into, 64, "p%d%s%s", number, *file ? "/" : "", file);
  return into;
}

/*
 * Programs see the group of all programs as the root of the hierarchy, so Docker's containers count as a part of it. The
 * agent itself stays outside: it gets its share of the processor whatever they do.
 */
static void hide_root(int root) {
  if (write_at(groups_fd, "cgroup.procs", "0") || unshare(CLONE_NEWCGROUP)) return;
  umount2(MOUNT_POINT, MNT_DETACH);
  mount("cgroup2", MOUNT_POINT, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0);
  write_at(root, "cgroup.procs", "0");
}

/* Returns 0 or an errno. */
int groups_mount(const char *name, const char *memory_max, const char *processes_max) {
  if (mount("cgroup2", MOUNT_POINT, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, 0)) return errno;
  int root = open(MOUNT_POINT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* One at a time: a kernel may lack one of them. */
  static const char *const controllers[] = {"+memory", "+pids", "+cpu", "+cpuset", "+io"};
  for (int i = 0; i < 5; i++) write_at(root, "cgroup.subtree_control", controllers[i]);
  mkdirat(root, name, 0755);
  groups_fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (groups_fd < 0) {
    int error = errno;
    close(root);
    return error;
  }
  if (!is_bare) hide_root(root);
  close(root);
  for (int i = 0; i < 2; i++) write_at(groups_fd, "cgroup.subtree_control", controllers[i]);
  if (*memory_max) write_at(groups_fd, "memory.max", memory_max);
  if (*processes_max) write_at(groups_fd, "pids.max", processes_max);
  groups_fill();
  return 0;
}

static int group_make(int *fd) {
  char name[64];
  *fd = -1;
  if (groups_fd < 0) return -1;
  int number = ++next_number;
  if (mkdirat(groups_fd, group_name(name, number, ""), 0755)) return -1;
  *fd = openat(groups_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  return number;
}

void groups_fill(void) {
  while (ready_count < READY_MAX) {
    int number = group_make(&ready[ready_count].fd);
    if (number < 0) return;
    ready[ready_count++].number = number;
  }
}

/* Returns the number of a new group and its descriptor, or -1 without control groups. */
int group_take(int *fd) {
  if (!ready_count) return group_make(fd);
  ready_count--;
  *fd = ready[ready_count].fd;
  later(20);
  return ready[ready_count].number;
}

/* The group stays while processes are in it. */
void group_forget(int number) {
  char name[64];
  if (!unlinkat(groups_fd, group_name(name, number, ""), AT_REMOVEDIR)) return;
  may_sweep = 1;
  sweep_ms = SWEEP_MS;
}

/* Removes empty groups of programs that are forgotten. */
void groups_sweep(void) {
  static uint64_t last;
  if (!may_sweep || groups_fd < 0) return;
  uint64_t now = now_ms();
  if (now < last + sweep_ms) {
    later(last + sweep_ms - now);
    return;
  }
  last = now;
  may_sweep = 0;
  int copy = openat(groups_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = copy < 0 ? 0 : fdopendir(copy);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] != 'p' || entry->d_name[1] < '0' || entry->d_name[1] > '9') continue;
    int number = atoi(entry->d_name + 1), is_known = 0;
    for (int i = 0; i < channels_used && !is_known; i++)
      is_known = channels[i].kind == CHANNEL_PROGRAM && channels[i].group == number;
    for (int i = 0; i < ready_count && !is_known; i++) is_known = ready[i].number == number;
    if (!is_known && unlinkat(groups_fd, entry->d_name, AT_REMOVEDIR)) may_sweep = 1;
  }
  closedir(folder);
  if (!may_sweep) return;
  if (sweep_ms < SWEEP_MS_MAX) sweep_ms *= 2;
  later(sweep_ms);
}

int group_kill(int number) {
  char name[64];
  return write_at(groups_fd, group_name(name, number, "cgroup.kill"), "1");
}

/* Signals the processes of a group of control, or those of them in one process group. Returns -1 without the group. */
int group_signal(int number, int signal, pid_t process_group) {
  char name[64];
  int fd = openat(groups_fd, group_name(name, number, "cgroup.procs"), O_RDONLY | O_CLOEXEC);
  FILE *list = fd < 0 ? 0 : fdopen(fd, "r");
  if (!list) return -1;
  for (int pid; fscanf(list, "%d", &pid) == 1;)
    if (pid > 1 && (!process_group || getpgid(pid) == process_group)) kill(pid, signal);
  fclose(list);
  return 0;
}

/* Everything but the agent, also what no program of the host started. */
void groups_kill_all(int signal) {
  if (groups_fd >= 0 && signal == SIGKILL) write_at(groups_fd, "cgroup.kill", "1");
  if (getpid() == 1) kill(-1, signal);
}

int groups_are_empty(void) {
  char text[256] = "";
  int fd = groups_fd < 0 ? -1 : openat(groups_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 1;
  if (read(fd, text, sizeof text - 1) < 0) text[0] = 0;
  close(fd);
  return !strstr(text, "populated 1");
}
