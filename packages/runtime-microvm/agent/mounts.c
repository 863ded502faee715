/* Whether a path may lie on a filesystem that keeps a process waiting for ever, as one of FUSE whose server hangs. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent.h"

/* The kernel's own, which wait for nobody. Not overlay: one of its layers may be of any kind. */
static const char *const own_types[] = {"bpf", "cgroup2", "debugfs", "devpts", "devtmpfs", "mqueue", "proc",
                                        "ramfs", "securityfs", "sysfs", "tmpfs", "tracefs"};

static int is_own_type(const char *type) {
  for (size_t i = 0; i < sizeof own_types / sizeof *own_types; i++)
    if (!strcmp(type, own_types[i])) return 1;
  return 0;
}

/* A line of mountinfo, as proc(5) has it: id, parent, device, …, "-", type. */
static int line_may_hang(const char *line, unsigned disks) {
  unsigned device;
  char type[32] = "";
  const char *end = strstr(line, " - ");
  if (!end || sscanf(line, "%*d %*d %u:", &device) != 1 || sscanf(end, " - %31s", type) != 1) return 1;
  return device != disks && !is_own_type(type);
}

/* Of disks, only those of the machine count as safe: the file of a loop device may lie anywhere. */
static int read_mounts(void) {
  struct stat root;
  FILE *list = stat("/", &root) ? 0 : fopen("/proc/self/mountinfo", "re");
  if (!list) return 1;
  char line[4096];
  int may_hang = 0;
  while (!may_hang && fgets(line, sizeof line, list)) may_hang = line_may_hang(line, major(root.st_dev));
  fclose(list);
  return may_hang;
}

int mounts_may_hang(void) {
  static int changes_fd = -1, may_hang;
  int is_first = changes_fd < 0;
  if (is_first) changes_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  struct pollfd changes = {.fd = changes_fd, .events = POLLPRI};
  if (is_first || poll(&changes, 1, 0)) may_hang = read_mounts();
  return may_hang;
}
