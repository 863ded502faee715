/*
 * The guest agent of a Dock in a microVM: process 1 of the machine. It starts programs, carries their streams over a
 * virtio port, and reaps what they leave behind. The wire format is in protocol.md.
 *
 * `agent` is the machine's init. `agent bare` runs in a namespace of a test, with a socket as descriptor 3 (and 4).
 * `agent version` prints the version of the protocol, as a check that the program runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

#define EVENTS_MAX 64
#define PORT_WAIT_MS 10000
/* A virtio port whose host was away may not say that it takes bytes again. */
#define RETRY_MS 500

int is_bare, loop_fd;
static int children_fd;
static uint64_t wake_at;

uint64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000ull + time.tv_nsec / 1000000;
}

void later(int ms) {
  uint64_t at = now_ms() + ms;
  if (!wake_at || at < wake_at) wake_at = at;
}

/* Each change of a descriptor is told once. Watching it again tells its state again. */
int watch(int fd, int kind, uint32_t index, uint32_t generation) {
  uint32_t events = EPOLLET | EPOLLIN | EPOLLRDHUP;
  if (kind == EVENT_INPUT) events = EPOLLET | EPOLLOUT;
  if (kind == EVENT_LINK) events |= EPOLLOUT;
  struct epoll_event event = {.events = events, .data.u64 = kind | (uint64_t)index << 8 | (uint64_t)generation << 32};
  int result = epoll_ctl(loop_fd, EPOLL_CTL_ADD, fd, &event);
  return result && errno == EEXIST ? epoll_ctl(loop_fd, EPOLL_CTL_MOD, fd, &event) : result;
}

static void reap(void) {
  struct signalfd_siginfo info;
  while (read(children_fd, &info, sizeof info) > 0);
  read_kernel_log(); /* It says why a program was killed before the program has ended. */
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) program_ended(pid, status);
}

static void handle_event(const struct epoll_event *event) {
  int kind = event->data.u64 & 0xff;
  uint32_t index = event->data.u64 >> 8 & 0xffffff, generation = event->data.u64 >> 32;
  uint32_t of_channel = kind == EVENT_OUTPUT ? index / 2 : index;
  struct channel *channel = of_channel < CHANNELS_MAX ? &channels[of_channel] : 0;
  int is_current = channel && channel->kind != CHANNEL_FREE && channel->generation == generation;
  switch (kind) {
    case EVENT_LINK:
      if (event->events & ~EPOLLOUT) links[index].readable = 1;
      if (event->events & ~EPOLLIN) links[index].writable = 1;
      return;
    case EVENT_CHILDREN: reap(); return;
    case EVENT_KERNEL_LOG: read_kernel_log(); return;
    case EVENT_DRAIN: drain_ready(index); return;
    case EVENT_STARTED:
      if (is_current && channel->starting_fd >= 0) program_started(channel);
      return;
    case EVENT_INPUT:
      if (is_current) channel_input_ready(channel);
      return;
    case EVENT_OUTPUT:
      if (is_current) channel_output_ready(channel, index & 1, (event->events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0);
  }
}

/* Moves bytes until nothing changes. Bounded, so that new events get their turn. */
static void move(void) {
  for (int turn = 0; turn < 16; turn++) {
    size_t before = 0, after = 0;
    for (int i = 0; i < LINKS; i++) link_receive(i);
    channels_move();
    send_memory_events();
    for (int i = 0; i < LINKS; i++) {
      before += links[i].out_length;
      link_flush(i);
      after += links[i].out_length;
    }
    if (before == after) return;
  }
  later(0);
}

static int wait_ms(void) {
  for (int i = 0; i < LINKS; i++)
    if (links[i].fd >= 0 && links[i].out_length) later(RETRY_MS);
  if (!wake_at) return -1;
  uint64_t now = now_ms(), at = wake_at;
  wake_at = 0;
  return at > now ? (int)(at - now) : 0;
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "version")) {
    printf("protocol %d\n", PROTOCOL_NEWEST);
    return 0;
  }
  is_bare = count > 1 && !strcmp(arguments[1], "bare");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, 0);
  signal(SIGPIPE, SIG_IGN);
  if (!is_bare) machine_boot();
  loop_fd = epoll_create1(EPOLL_CLOEXEC);
  children_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  watch(children_fd, EVENT_CHILDREN, 0, 0);
  for (int i = 0; i < LINKS; i++) {
    char name[] = "dock.0";
    name[5] += i;
    /* The second port is optional, and appears with the first. */
    links[i].fd = -1;
    int fd = is_bare ? 3 + i : machine_port(name, i ? 0 : PORT_WAIT_MS);
    if (fd < 0 || fcntl(fd, F_GETFD) < 0) continue;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    link_open(i, fd);
  }
  if (links[0].fd < 0) log_line("no port to the host");
  for (;;) {
    move();
    machine_tick();
    groups_sweep();
    struct epoll_event events[EVENTS_MAX];
    int ready = epoll_wait(loop_fd, events, EVENTS_MAX, wait_ms());
    for (int i = 0; i < ready; i++) handle_event(&events[i]);
    if (ready == 0) {
      groups_fill();
      for (int i = 0; i < LINKS; i++) links[i].writable = 1;
    }
  }
}
