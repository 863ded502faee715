/* What the parts of the agent know of each other. One thread, one loop, no shell. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

#define LINKS 2
#define COMMANDS_ROOM 131072 /* Room of a send queue for everything but output. */
#define QUEUE_BYTES (COMMANDS_ROOM + 65536)

/* One byte stream to the host: a virtio port, or a socket in tests. */
struct link {
  int fd;
  int in_sync;   /* False until the next HELLO: frames of a broken connection mean nothing. */
  int writable;  /* False after EAGAIN, until epoll says otherwise. */
  int readable;
  uint8_t in[HEADER_BYTES + PAYLOAD_MAX + 1];
  size_t in_length;
  uint8_t out[QUEUE_BYTES];
  size_t out_start, out_length;
};

/* A ring of WINDOW_BYTES. Positions count from the start of the stream and only grow. */
struct ring {
  uint8_t *bytes; /* Null while nothing is in it. */
};

/* An output of a program: what was read of it, sent, and acknowledged by the host. */
struct output {
  int fd;            /* -1: the end was read. */
  int readable;      /* False after EAGAIN, until epoll says otherwise. */
  int hung_up;       /* No writer is left: read until the end. */
  int64_t left;      /* After the end of the program: bytes of it that are still in the pipe. -1: not limited. */
  int end_sent;
  int is_dropped;    /* The host does not want it: it is read and dropped. */
  struct ring ring;
  uint64_t acked, sent, read;
};

/* The input of a program: what the host sent, and what the program took. */
struct input {
  int fd;
  int writable;
  int end_wanted, has_ended; /* A terminal stays open after the end of its input. */
  int last_byte;
  struct ring ring;
  uint64_t taken, received, acked;
};

enum channel_kind { CHANNEL_FREE, CHANNEL_PROGRAM, CHANNEL_SOCKET };

/* A program, or a connection to a port of this machine. It outlives the connection of the host. */
struct channel {
  enum channel_kind kind;
  uint32_t id, generation;
  int flags;       /* OPEN_… */
  int link;        /* The link that it talks to. -1: none, after a connection broke. */
  pid_t pid;
  int starting_fd; /* Closed by the start of the program, and -1 when that is known. */
  int group;       /* Number of its control group, or -1. */
  int connecting, connect_error, port_of_ipv4; /* The port is tried again by IPv6 if IPv4 fails. */
  int has_ended, status, exit_sent;
  int opened_due, attached_due, close_due;
  ino_t pipes[3];  /* Inodes of its pipes: what holds one of them is attached to the program. */
  struct input input;
  struct output outputs[2];
  uint64_t seen; /* Order of use. */
  char killed[KILLED_NAMES_MAX][NAME_BYTES_MAX + 1];
  int killed_count;
};

struct open_request {
  uint32_t flags, uid, gid;
  uint16_t rows, cols;
  uint64_t capabilities;
  char *cwd, *executable;
  char **argv, **env;
};

/* main.c */
extern int is_bare; /* Runs in a namespace of a test, not as the first process of a machine. */
extern int loop_fd;
enum event_kind { EVENT_LINK, EVENT_CHILDREN, EVENT_STARTED, EVENT_INPUT, EVENT_OUTPUT, EVENT_DRAIN, EVENT_KERNEL_LOG };
int watch(int fd, int kind, uint32_t index, uint32_t generation);
uint64_t now_ms(void);
void later(int ms); /* The loop runs again after at most so many milliseconds. */

/* link.c */
extern struct link links[LINKS];
void link_open(int index, int fd);
void link_receive(int index);
void link_flush(int index);
size_t link_room(const struct link *link); /* For output; commands may take COMMANDS_ROOM more. */
void send_frame(int index, int type, int stream, uint32_t channel, const void *payload, uint32_t length);
uint8_t *reserve_frame(int index, uint32_t length);
void commit_frame(int index, int type, int stream, uint32_t channel, uint32_t length);
void log_line(const char *format, ...);
uint16_t get16(const uint8_t *at);
uint32_t get32(const uint8_t *at);
uint64_t get64(const uint8_t *at);
uint8_t *put16(uint8_t *at, uint32_t value);
uint8_t *put32(uint8_t *at, uint32_t value);
uint8_t *put64(uint8_t *at, uint64_t value);

/* stream.c */
void close_fd(int *fd);
void ring_release(struct ring *ring);
void input_move(struct channel *channel);
void input_take(struct channel *channel, const uint8_t *bytes, uint32_t length);
int output_is_over(const struct output *output);
void output_over(struct channel *channel, struct output *output);
void output_read(struct channel *channel, struct output *output);
int output_send(struct channel *channel, int stream);
void output_acked(struct channel *channel, int stream, uint64_t position);
void output_unwanted(struct channel *channel, int stream);
void channel_output_ready(struct channel *channel, int stream, int hung_up);

/* channel.c */
extern struct channel channels[CHANNELS_MAX];
extern int channels_used;
struct channel *channel_find(uint32_t id);
struct channel *channel_new(int link, uint32_t id, enum channel_kind kind);
void channel_free(struct channel *channel);
void channel_use(struct channel *channel);
void channel_watch(struct channel *channel);
void channel_input_ready(struct channel *channel);
void channels_move(void); /* Moves what is ready. */
void program_ended(pid_t pid, int status);
void drain_ready(int fd);

/* handle.c */
void channel_frame(int link, int type, int stream, int flags, uint32_t id, uint8_t *payload, uint32_t length);
void channel_refuse(int link, uint32_t id, int why, const char *what, int error);
void channels_detach(int link);

/* request.c */
int parse_open(uint8_t *bytes, size_t length, struct open_request *request);

/* open.c */
int program_open(struct channel *channel, const struct open_request *request, const char **what);
void program_started(struct channel *channel);
int socket_open(struct channel *channel, int port, int is_ipv6);

/* mounts.c */
int mounts_may_hang(void);

/* groups.c */
extern int groups_fd; /* The folder of the control group that holds every program, or -1. */
int groups_mount(const char *name, const char *memory_max, const char *processes_max);
int group_take(int *fd);
void group_forget(int number);
int group_kill(int number);
int group_signal(int number, int signal, pid_t process_group);
void groups_sweep(void);
void groups_fill(void);
void groups_kill_all(int signal);
int groups_are_empty(void);

/* processes.c */
void program_signal(struct channel *channel, int target, int signal);
uint32_t list_processes(uint32_t after, uint8_t *into, uint32_t room);
uint32_t list_programs(uint32_t after, uint8_t *into, uint32_t room);

/* memory.c */
void watch_kernel_log(void);
void read_kernel_log(void);
void send_memory_events(void);

/* identity.c: a configuration is a list of `name=value`, each ended by a zero byte. */
struct config { const char *bytes, *end; };
const char *next_of(const struct config *config, const char *name, const char *after);
const char *value_of(const struct config *config, const char *name);
void set_clock(uint64_t ns);
int set_host_name(const char *name, size_t length);
const char *set_identity(const struct config *config); /* Returns what failed, or null. */

/* machine.c */
extern int machine_runs;
extern int root_fd; /* The root folder of the disk. */
void machine_boot(void);
int machine_port(const char *name, int wait_ms);
int machine_go(const struct config *config, const char **what);
int grow_root(uint64_t *bytes);
uint64_t memory_of(const char *name);

/* calls.c */
void machine_call(int link, uint32_t id, int operation, uint8_t *payload, uint32_t length);
void machine_tick(void);

/* network.c */
const char *network_up(const char *address, const char *mask, const char *gateway, const char *mac, const char *mtu);
