/* The machine before it runs programs: its modules, ports, disk, devices and folders. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent.h"

#define DEVICE_BYTES _IOR(0x12, 114, size_t)
#define FORGET_BUFFERS _IO(0x12, 97)
#define RESIZE_EXT4 _IOW('f', 16, uint64_t)
#define BLOCK_BYTES 4096
#define DISK_WAIT_MS 5000
#define OWN_MEMORY (24u << 20) /* Of the agent and the kernel, while programs use up the rest. */
#define FLAGS_PLAIN (MS_NOSUID | MS_NODEV | MS_NOEXEC)

int machine_runs;
int root_fd = -1;
static char root_device[64];

static ssize_t read_file(const char *path, char *into, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, into, room - 1);
  if (fd >= 0) close(fd);
  into[length > 0 ? length : 0] = 0;
  return length;
}

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!write(fd, text, strlen(text));
  close(fd);
}

/* Returns a line of the kernel's list in bytes, or 0. */
uint64_t memory_of(const char *name) {
  char text[2048];
  read_file("/proc/meminfo", text, sizeof text);
  const char *at = strstr(text, name);
  return at ? strtoull(at + strlen(name), 0, 10) * 1024 : 0;
}

static void load_modules(void) {
  struct dirent **entries;
  int count = scandir("/modules", &entries, 0, alphasort);
  for (int i = 0; i < count; i++) {
    char path[300];
    if (entries[i]->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/modules/%s", entries[i]->d_name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (syscall(SYS_finit_module, fd, "", 0)) log_line("module %s: %s", path, strerror(errno));
    close(fd);
  }
}

void machine_boot(void) {
  mkdir("/proc", 0755);
  mkdir("/sys", 0755);
  mkdir("/dev", 0755);
  mount("proc", "/proc", "proc", FLAGS_PLAIN, 0);
  mount("sysfs", "/sys", "sysfs", FLAGS_PLAIN, 0);
  mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID, "mode=755");
  int console = open("/dev/console", O_RDWR);
  if (console < 0) console = open("/dev/null", O_RDWR);
  for (int i = 0; console >= 0 && i < 3; i++) dup2(console, i);
  if (console > 2) close(console);
  setvbuf(stdout, 0, _IONBF, 0);
  load_modules();
}

/* Opens the virtio port of this name. It may appear a moment after the start. Returns -1 if it does not. */
int machine_port(const char *name, int wait_ms) {
  uint64_t until = now_ms() + wait_ms;
  do {
    DIR *folder = opendir("/sys/class/virtio-ports");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
      char path[320], text[64];
      snprintf(path, sizeof path, "/sys/class/virtio-ports/%s/name", entry->d_name);
      if (read_file(path, text, sizeof text) <= 0) continue;
      text[strcspn(text, "\n")] = 0;
      if (strcmp(text, name)) continue;
      snprintf(path, sizeof path, "/dev/%s", entry->d_name);
      closedir(folder);
      return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    if (folder) closedir(folder);
    usleep(1000);
  } while (now_ms() < until);
  return -1;
}

static int find_disk(const char *serial, char *device, size_t room) {
  DIR *folder = opendir("/sys/block");
  int found = 0;
  for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
    char path[320], text[64];
    snprintf(path, sizeof path, "/sys/block/%s/serial", entry->d_name);
    if (read_file(path, text, sizeof text) <= 0) continue;
    text[strcspn(text, "\n")] = 0;
    if (strcmp(text, serial)) continue;
    snprintf(device, room, "/dev/%.40s", entry->d_name);
    found = 1;
  }
  if (folder) closedir(folder);
  return found;
}

static uint64_t device_bytes(void) {
  uint64_t bytes = 0;
  int fd = open(root_device, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ioctl(fd, DEVICE_BYTES, &bytes);
  close(fd);
  return bytes;
}

/* The disk of a restored machine is another one than that of its template: nothing that was read of it counts. */
static void await_disk(uint64_t bytes) {
  int fd = open(root_device, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ioctl(fd, FORGET_BUFFERS, 0);
    close(fd);
  }
  for (uint64_t until = now_ms() + DISK_WAIT_MS; bytes && device_bytes() != bytes && now_ms() < until;) usleep(1000);
}

int grow_root(uint64_t *bytes) {
  uint64_t blocks = device_bytes() / BLOCK_BYTES;
  *bytes = blocks * BLOCK_BYTES;
  return ioctl(root_fd, RESIZE_EXT4, &blocks) ? errno : 0;
}

static void make_devices(void) {
  mkdir("/dev/pts", 0755);
  mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "mode=620,ptmxmode=666,gid=5");
  unlink("/dev/ptmx");
  (void)!symlink("pts/ptmx", "/dev/ptmx");
  mkdir("/dev/shm", 01777);
  mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
  /* Opening one loads its module. */
  mkdir("/dev/net", 0755);
  mknod("/dev/net/tun", S_IFCHR | 0666, makedev(10, 200));
  mknod("/dev/loop-control", S_IFCHR | 0660, makedev(10, 237));
  static const char *const open_to_all[] = {"/dev/fuse", "/dev/net/tun"};
  for (int i = 0; i < 2; i++) chmod(open_to_all[i], 0666);
  (void)!symlink("/proc/self/fd", "/dev/fd");
  (void)!symlink("/proc/self/fd/0", "/dev/stdin");
  (void)!symlink("/proc/self/fd/1", "/dev/stdout");
  (void)!symlink("/proc/self/fd/2", "/dev/stderr");
}

static void mount_memory_folder(const char *value) {
  char path[256], options[64];
  unsigned gid, mib;
  if (sscanf(value, "%u:%u:%255s", &gid, &mib, path) != 3) return;
  mkdir(path, 02755);
  snprintf(options, sizeof options, "mode=2755,gid=%u,size=%um", gid, mib);
  if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options)) log_line("%s: %s", path, strerror(errno));
}

/* The modules of this kernel lie on a disk of their own, because a Dock's disk may be older than the kernel. */
static void mount_modules(const struct config *config) {
  char device[64], release[128], path[192];
  const char *serial = value_of(config, "modules"), *type = value_of(config, "modules-type");
  if (!*serial || read_file("/proc/sys/kernel/osrelease", release, sizeof release) <= 0) return;
  release[strcspn(release, "\n")] = 0;
  snprintf(path, sizeof path, "/lib/modules/%s", release);
  mkdir("/lib/modules", 0755);
  mkdir(path, 0755);
  if (!find_disk(serial, device, sizeof device) ||
      mount(device, path, *type ? type : "ext4", MS_RDONLY | MS_NOSUID | MS_NODEV, 0))
    log_line("modules: %s", strerror(errno));
  /* A disk may have no program that loads modules, or an older one. */
  strncat(path, "/loader/modprobe", sizeof path - strlen(path) - 1);
  if (!access(path, X_OK)) write_file("/proc/sys/kernel/modprobe", path);
}

static int enter_disk(const struct config *config, const char **what) {
  const char *serial = value_of(config, "disk");
  *what = "disk";
  if (!find_disk(serial, root_device, sizeof root_device)) return ENODEV;
  await_disk(strtoull(value_of(config, "disk-size"), 0, 10));
  mkdir("/root", 0755);
  if (mount(root_device, "/root", "ext4", MS_NOATIME, "discard")) return errno;
  root_fd = open("/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  static const char *const moved[] = {"/dev", "/proc", "/sys"};
  *what = "root";
  for (int i = 0; i < 3; i++) {
    char path[32];
    snprintf(path, sizeof path, "/root%s", moved[i]);
    mkdir(path, 0755);
    if (mount(moved[i], path, 0, MS_MOVE, 0)) return errno;
  }
  if (chdir("/root") || mount(".", "/", 0, MS_MOVE, 0) || chroot(".") || chdir("/")) return errno;
  uint64_t bytes;
  *what = "growth";
  return *value_of(config, "grow") ? grow_root(&bytes) : 0;
}

int machine_go(const struct config *config, const char **what) {
  *what = "a machine that runs";
  if (machine_runs) return EALREADY;
  set_clock(strtoull(value_of(config, "clock"), 0, 10));
  if (!is_bare) {
    int error = enter_disk(config, what);
    if (error) return error;
    make_devices();
    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
    mkdir("/run/lock", 0755);
    mount("tmpfs", "/run/lock", "tmpfs", FLAGS_PLAIN, "mode=1777,size=5m");
    mount_memory_folder(value_of(config, "memory-folder"));
    /* For the image's sudo. The folder may be that in memory. */
    mkdir("/run/dock", 0755);
    close(open("/run/dock/own-kernel", O_WRONLY | O_CREAT | O_CLOEXEC, 0444));
    mount_modules(config);
    write_file("/proc/self/oom_score_adj", "-1000");
    /* Everybody may ping. */
    write_file("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
    /* And measure their own programs, the kernel's part included. Debian's kernel lets only root do that. */
    write_file("/proc/sys/kernel/perf_event_paranoid", "1");
  }
  *what = "control groups";
  const char *name = value_of(config, "group"), *memory = value_of(config, "memory-max");
  char free_memory[32];
  if (!*memory && !is_bare) {
    snprintf(free_memory, sizeof free_memory, "%llu", (unsigned long long)(memory_of("MemAvailable:") - OWN_MEMORY));
    memory = free_memory;
  }
  int error = groups_mount(*name ? name : "dock", memory, value_of(config, "processes-max"));
  if (error) return error;
  if ((*what = set_identity(config))) return EINVAL;
  if (!is_bare) watch_kernel_log();
  machine_runs = 1;
  return 0;
}
