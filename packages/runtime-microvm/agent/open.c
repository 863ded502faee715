/* Starts programs, and connects to ports of this machine. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"

#define OPEN_FILES_MAX 1048576
#define TERMINAL_GROUP 5 /* Of devices of terminals: Debian's "tty". */
#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif
#ifndef PR_CAP_AMBIENT
#define PR_CAP_AMBIENT 47
#define PR_CAP_AMBIENT_RAISE 2
#endif
#define CLONE3_NUMBER 435
#define CLOSE_RANGE_NUMBER 436
#define REPORT_FD 3
#define CLONE_SHARES_MEMORY 0x100
#define CLONE_PARENT_WAITS 0x4000
#define CLONE_INTO_GROUP 0x200000000ULL

/* A program that is about to start, in its own process. */
struct start {
  const struct open_request *request;
  int fds[3];
  int group_fd;
  int report_fd; /* Takes a failure, as REPORT_FD of the new process. The start of the program closes it. */
};

struct failure { int error, why; char what[TEXT_BYTES_MAX]; };

/* Gives capabilities to a user who is not root: they must survive the change of the user and the start of the program. */
static int keep_capabilities(uint64_t wanted, int is_user_set) {
  if (!wanted) return 0;
  if (!is_user_set) return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
  struct { uint32_t version; int pid; } head = {0x20080522, 0};
  struct { uint32_t effective, permitted, inheritable; } data[2];
  for (int i = 0; i < 2; i++) data[i].effective = data[i].permitted = data[i].inheritable = wanted >> (32 * i);
  if (syscall(SYS_capset, &head, data)) return -1;
  for (int i = 0; i < 64; i++)
    if (wanted >> i & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0)) return -1;
  return 0;
}

static void run(const char *file, const struct open_request *request) { execve(file, request->argv, request->env); }

/* Looks for the program in PATH. errno is that of the file that exists, if one does. */
static void run_from_path(const struct open_request *request) {
  static char file[4096];
  const char *path = "/usr/local/bin:/usr/bin:/bin", *name = request->argv[0];
  for (char **each = request->env; *each; each++)
    if (!strncmp(*each, "PATH=", 5)) path = *each + 5;
  int seen = ENOENT;
  while (*path) {
    size_t length = strcspn(path, ":");
    if (length && length + strlen(name) + 2 <= sizeof file) {
      memcpy(file, path, length);
      file[length] = '/';
      strcpy(file + length + 1, name);
      run(file, request);
      if (errno != ENOENT && errno != ENOTDIR) seen = errno;
    }
    path += length;
    if (*path) path++;
  }
  errno = seen;
}

/* The new process. It may share the agent's memory while the agent waits: it must not return, and changes only its own things. */
static __attribute__((noinline, noreturn)) void become_program(const struct start *start) {
  const struct open_request *request = start->request;
  struct failure failure = {.why = REFUSED_PROGRAM};
  /* What the agent ignores, a program would inherit. */
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  setsid();
  if (request->flags & OPEN_TERMINAL) ioctl(start->fds[0], TIOCSCTTY, 0);
  for (int i = 0; i < 3; i++) dup2(start->fds[i], i);
  /* Of the streams of other programs none may wait for the start of this one. */
  if (start->report_fd != REPORT_FD) dup2(start->report_fd, REPORT_FD);
  fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC);
  syscall(CLOSE_RANGE_NUMBER, REPORT_FD + 1, ~0u, 0);
  struct rlimit files = {OPEN_FILES_MAX, OPEN_FILES_MAX}, core = {0, RLIM_INFINITY};
  setrlimit(RLIMIT_NOFILE, &files);
  setrlimit(RLIMIT_CORE, &core);
  /* The agent is the last that the kernel may kill, and programs are the first. */
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    (void)!write(score, "0", 1);
    close(score);
  }
  umask(022);
  /* System calls, because those of the C library would change all threads of a process, by way of signals. */
  if (keep_capabilities(request->capabilities, 0) || syscall(SYS_setgroups, 0, 0) ||
      syscall(SYS_setresgid, request->gid, request->gid, request->gid) ||
      syscall(SYS_setresuid, request->uid, request->uid, request->uid) || keep_capabilities(request->capabilities, 1))
    goto failed;
  failure.why = REFUSED_FOLDER;
  if (chdir(request->cwd)) goto failed;
  failure.why = REFUSED_PROGRAM;
  if (request->executable[0]) run(request->executable, request);
  if (strchr(request->argv[0], '/')) run(request->argv[0], request);
  else run_from_path(request);
failed:
  failure.error = errno ? errno : EINVAL;
  strncpy(failure.what, failure.why == REFUSED_FOLDER ? request->cwd : request->argv[0], sizeof failure.what - 1);
  (void)!write(REPORT_FD, &failure, sizeof failure);
  _exit(127);
}

struct clone_arguments {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
};

/*
 * The child begins in its control group: it never runs outside of it. As vfork, which is faster by the time of a copy of the
 * agent, or as fork if the child may have to wait for ever. Returns the pid, or -errno.
 * In assembly because the child returns on the same stack, which only a function that then calls nothing else may allow.
 */
static __attribute__((noinline)) long start_process(const struct start *start) {
  struct clone_arguments arguments = {.exit_signal = SIGCHLD};
  if (!mounts_may_hang()) arguments.flags |= CLONE_PARENT_WAITS | CLONE_SHARES_MEMORY;
  if (start->group_fd >= 0) {
    arguments.flags |= CLONE_INTO_GROUP;
    arguments.cgroup = start->group_fd;
  }
  long result;
#if defined(__x86_64__)
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"((long)CLONE3_NUMBER), "D"(&arguments), "S"(sizeof arguments)
                   : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long number __asm__("x8") = CLONE3_NUMBER, first __asm__("x0") = (long)&arguments,
                       second __asm__("x1") = sizeof arguments;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
  result = first;
#else
#error "no system call for this processor"
#endif
  if (result == 0) become_program(start);
  return result;
}

static int terminal_open(struct channel *channel, const struct open_request *request, struct start *start) {
  int unlocked = 0, master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (master < 0) return -1;
  channel->outputs[0].fd = master;
  if (ioctl(master, TIOCSPTLCK, &unlocked)) return -1;
  int terminal = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return -1;
  for (int i = 0; i < 3; i++) start->fds[i] = terminal;
  struct winsize size = {.ws_row = request->rows, .ws_col = request->cols};
  ioctl(master, TIOCSWINSZ, &size);
  if (fchown(terminal, request->uid, TERMINAL_GROUP) || fchmod(terminal, 0620)) errno = 0;
  channel->input.fd = fcntl(master, F_DUPFD_CLOEXEC, 0);
  return channel->input.fd < 0 ? -1 : 0;
}

static int pipes_open(struct channel *channel, const struct open_request *request, struct start *start) {
  for (int i = 0; i < 3; i++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return -1;
    int own = i == 0 ? 1 : 0;
    start->fds[i] = ends[!own];
    if (i == 0) channel->input.fd = ends[own];
    else channel->outputs[i - 1].fd = ends[own];
    fcntl(ends[own], F_SETFL, O_NONBLOCK);
    /* The program may be of another user, and open its streams by path. */
    struct stat status;
    if (fchown(ends[0], request->uid, request->gid) || fstat(ends[0], &status)) return -1;
    channel->pipes[i] = status.st_ino;
  }
  return 0;
}

/* Begins to start the program. Returns 0 or an errno. The caller then frees the channel. */
int program_open(struct channel *channel, const struct open_request *request, const char **what) {
  struct start start = {.request = request, .fds = {-1, -1, -1}, .group_fd = -1};
  channel->flags = request->flags;
  *what = "streams";
  int is_terminal = request->flags & OPEN_TERMINAL, report[2] = {-1, -1};
  int error = (is_terminal ? terminal_open : pipes_open)(channel, request, &start) || pipe2(report, O_CLOEXEC) ? errno : 0;
  if (!error) {
    if (!(request->flags & OPEN_PLATFORM)) channel->group = group_take(&start.group_fd);
    channel->starting_fd = report[0];
    fcntl(report[0], F_SETFL, O_NONBLOCK);
    start.report_fd = report[1];
    long pid = start_process(&start);
    if (pid < 0) {
      error = -pid;
      *what = "process";
    } else channel->pid = pid;
  }
  close_fd(&report[1]);
  close_fd(&start.group_fd);
  for (int i = 0; i < (is_terminal ? 1 : 3); i++) close_fd(&start.fds[i]);
  return error;
}

/* Learns whether the program runs: its start closed the pipe. Frees the channel if it failed. */
void program_started(struct channel *channel) {
  struct failure failure;
  ssize_t got = read(channel->starting_fd, &failure, sizeof failure);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close_fd(&channel->starting_fd);
  if (got != sizeof failure) {
    channel->opened_due = !channel->attached_due;
    return;
  }
  if (channel->link >= 0) channel_refuse(channel->link, channel->id, failure.why, failure.what, failure.error);
  channel->pid = 0;
  channel_free(channel);
}

/* Begins to connect to a port of this machine: first by IPv4, then by IPv6. Returns 0 or an errno. */
int socket_open(struct channel *channel, int port, int is_ipv6) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  channel->input.fd = fd;
  channel->connecting = 1;
  channel->port_of_ipv4 = is_ipv6 ? 0 : port;
  int result = is_ipv6 ? connect(fd, (void *)&six, sizeof six) : connect(fd, (void *)&four, sizeof four);
  if (result && errno != EINPROGRESS) return errno;
  channel->outputs[0].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return channel->outputs[0].fd < 0 ? errno : 0;
}
