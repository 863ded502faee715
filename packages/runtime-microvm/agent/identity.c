/* What makes a machine itself: its clock, randomness, name and network. A restored machine gets all of it again. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

#define ADD_ENTROPY _IOW('R', 0x03, int[2])
#define RESEED _IO('R', 0x07)
#define ENTROPY_BYTES 64
#define HOST_NAME_MAX_BYTES 64

/* Returns the next value of this name after `after`, or the first one, or null. */
const char *next_of(const struct config *config, const char *name, const char *after) {
  size_t length = strlen(name);
  for (const char *at = after ? after + strlen(after) + 1 : config->bytes; at < config->end; at += strlen(at) + 1)
    if (!strncmp(at, name, length) && at[length] == '=') return at + length + 1;
  return 0;
}

/* Returns the empty text if there is none. */
const char *value_of(const struct config *config, const char *name) {
  const char *value = next_of(config, name, 0);
  return value ? value : "";
}

void set_clock(uint64_t ns) {
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  if (!is_bare && ns && clock_settime(CLOCK_REALTIME, &time)) log_line("clock: %s", strerror(errno));
}

/* Without it, two machines that were restored from one template draw the same random numbers. */
static void add_entropy(const char *hex) {
  struct { int bits, size; uint8_t bytes[ENTROPY_BYTES]; } random = {0, 0, {0}};
  for (unsigned byte; random.size < ENTROPY_BYTES && sscanf(hex + 2 * random.size, "%2x", &byte) == 1 && hex[2 * random.size + 1];)
    random.bytes[random.size++] = byte;
  random.bits = random.size * 8;
  int fd = is_bare || !random.size ? -1 : open("/dev/urandom", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  if (ioctl(fd, ADD_ENTROPY, &random) || ioctl(fd, RESEED)) log_line("entropy: %s", strerror(errno));
  close(fd);
}

int set_host_name(const char *name, size_t length) {
  if (!length || length > HOST_NAME_MAX_BYTES) return EINVAL;
  return sethostname(name, length) ? errno : 0;
}

/* Returns what failed, or null. */
const char *set_identity(const struct config *config) {
  set_clock(strtoull(value_of(config, "clock"), 0, 10));
  add_entropy(value_of(config, "entropy"));
  const char *name = value_of(config, "hostname");
  if (*name && set_host_name(name, strlen(name))) return "hostname";
  return network_up(value_of(config, "address"), value_of(config, "mask"), value_of(config, "gateway"),
                    value_of(config, "mac"), value_of(config, "mtu"));
}
