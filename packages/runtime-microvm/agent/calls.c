/* The calls of the host, and what they leave to do later: thawing the disk, and the end of the machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define FREEZE_FILESYSTEM _IOWR('X', 119, int)
#define THAW_FILESYSTEM _IOWR('X', 120, int)
#define FREEZE_MS_MAX 30000
#define GRACE_MS_MAX 60000
#define KILL_MS 2000

static uint64_t frozen_until, ends_at;
static int thawed_itself;

static int freeze(uint32_t ms) {
  if (frozen_until) return 0;
  thawed_itself = 0;
  if (ioctl(root_fd, FREEZE_FILESYSTEM, 0)) return errno;
  frozen_until = now_ms() + (ms < FREEZE_MS_MAX ? ms : FREEZE_MS_MAX);
  later(ms);
  return 0;
}

/* ETIMEDOUT says that the machine did not wait: what the host copied may lie before and after. */
static int thaw(void) {
  if (!frozen_until) return thawed_itself ? ETIMEDOUT : 0;
  frozen_until = 0;
  return ioctl(root_fd, THAW_FILESYSTEM, 0) ? errno : 0;
}

static void power_off(void) {
  for (int i = 0; i < LINKS; i++) link_flush(i);
  if (is_bare) _exit(0);
  if (frozen_until) thaw();
  groups_kill_all(SIGKILL);
  for (uint64_t until = now_ms() + KILL_MS; now_ms() < until && waitpid(-1, 0, WNOHANG) >= 0;) usleep(1000);
  sync();
  mount(0, "/", 0, MS_REMOUNT | MS_RDONLY, 0);
  sync();
  reboot(RB_POWER_OFF);
}

void machine_tick(void) {
  uint64_t now = now_ms();
  if (frozen_until && now >= frozen_until) {
    thaw();
    thawed_itself = 1;
    log_line("the host did not thaw the disk");
  }
  if (frozen_until) later(frozen_until - now);
  if (ends_at) {
    if (now >= ends_at || groups_are_empty()) power_off();
    later(20);
  }
}

static uint32_t usage(uint8_t *into) {
  struct statfs disk;
  memset(&disk, 0, sizeof disk);
  if (root_fd >= 0) fstatfs(root_fd, &disk);
  uint64_t block = disk.f_bsize;
  uint8_t *at = put64(into, memory_of("MemTotal:"));
  at = put64(at, memory_of("MemAvailable:"));
  at = put64(put64(at, disk.f_blocks * block), disk.f_bavail * block);
  return put64(at, disk.f_files - disk.f_ffree) - into;
}

void machine_call(int link, uint32_t id, int operation, uint8_t *payload, uint32_t length) {
  static uint8_t reply[PAYLOAD_MAX];
  uint8_t *at = reply + 4;
  uint32_t room = sizeof reply - 4;
  int error = 0;
  struct config config = {(char *)payload, (char *)payload + length};
  const char *what = "";
  int needs_config = operation == CALL_GO || operation == CALL_IDENTITY;
  if (needs_config && (!length || payload[length - 1])) error = EINVAL;
  else
    switch (operation) {
      case CALL_PING: break;
      case CALL_GO: error = machine_go(&config, &what); break;
      case CALL_IDENTITY: error = (what = set_identity(&config)) ? EINVAL : 0; break;
      case CALL_PROCESSES: at += length == 4 ? list_processes(get32(payload), at, room) : 0; break;
      case CALL_PROGRAMS: at += length == 4 ? list_programs(get32(payload), at, room) : 0; break;
      case CALL_USAGE: at += usage(at); break;
      case CALL_RENAME: error = set_host_name((char *)payload, length); break;
      case CALL_CLOCK: error = length == 8 ? (set_clock(get64(payload)), 0) : EINVAL; break;
      case CALL_SYNC: sync(); break;
      case CALL_FREEZE: error = length == 4 ? freeze(get32(payload)) : EINVAL; break;
      case CALL_THAW: error = thaw(); break;
      case CALL_GROW: {
        uint64_t bytes;
        error = grow_root(&bytes);
        if (!error) at = put64(at, bytes);
        break;
      }
      case CALL_POWER_OFF:
        if (length != 4) error = EINVAL;
        else if (!ends_at) {
          uint32_t grace = get32(payload);
          if (frozen_until) thaw(); /* Programs that wait for the disk could not end. */
          ends_at = now_ms() + (grace < GRACE_MS_MAX ? grace : GRACE_MS_MAX);
          groups_kill_all(grace ? SIGTERM : SIGKILL);
          later(0);
        }
        break;
      default: error = ENOSYS;
    }
  put32(reply, error);
  if (error && what && *what) {
    size_t bytes = strlen(what);
    memcpy(at, what, bytes);
    at += bytes;
  }
  send_frame(link, TYPE_REPLY, 0, id, reply, at - reply);
}
