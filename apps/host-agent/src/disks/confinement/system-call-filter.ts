/**
 * The seccomp filter of confined programs, for the two processors that Dock runs on. Every system call that is not in the
 * list fails with ENOSYS, as on a kernel without it, so that the C library falls back to another one. Not in the list are
 * sockets, namespaces, mounts, signals to others, tracing, ioctl and new processes. Threads are allowed.
 */

/** Numbers of system calls: of x86-64, then of ARM64, which has no old variants of some. */
const allowed: Readonly<Record<string, readonly [number | null, number | null]>> = {
  ...{
    read: [0, 63],
    write: [1, 64],
    readv: [19, 65],
    writev: [20, 66],
    pread64: [17, 67],
    pwrite64: [18, 68],
  },
  ...{
    preadv: [295, 69],
    pwritev: [296, 70],
    lseek: [8, 62],
    close: [3, 57],
    dup: [32, 23],
    dup2: [33, null],
    dup3: [292, 24],
  },
  ...{ open: [2, null], openat: [257, 56], fcntl: [72, 25], getcwd: [79, 17] },
  ...{ stat: [4, null], fstat: [5, 80], lstat: [6, null], newfstatat: [262, 79], statx: [332, 291] },
  ...{ access: [21, null], faccessat: [269, 48], faccessat2: [439, 439] },
  ...{ readlink: [89, null], readlinkat: [267, 78] },
  ...{
    fsync: [74, 82],
    fdatasync: [75, 83],
    ftruncate: [77, 46],
    fallocate: [285, 47],
    fadvise64: [221, 223],
  },
  ...{ poll: [7, null], ppoll: [271, 73], pselect6: [270, 72] },
  ...{ mmap: [9, 222], mprotect: [10, 226], munmap: [11, 215], mremap: [25, 216], brk: [12, 214] },
  ...{ msync: [26, 227], madvise: [28, 233] },
  ...{ rt_sigaction: [13, 134], rt_sigprocmask: [14, 135], rt_sigreturn: [15, 139], sigaltstack: [131, 132] },
  ...{ tgkill: [234, 131], restart_syscall: [219, 128] },
  ...{ execve: [59, 221], exit: [60, 93], exit_group: [231, 94] },
  ...{ futex: [202, 98], set_tid_address: [218, 96], set_robust_list: [273, 99], rseq: [334, 293] },
  ...{ arch_prctl: [158, null], sched_yield: [24, 124], sched_getaffinity: [204, 123] },
  ...{ getpid: [39, 172], getppid: [110, 173], gettid: [186, 178] },
  ...{ getuid: [102, 174], geteuid: [107, 175], getgid: [104, 176], getegid: [108, 177] },
  ...{ uname: [63, 160], sysinfo: [99, 179], times: [100, 153], getrlimit: [97, 163], prlimit64: [302, 261] },
  ...{ getrusage: [98, 165], getrandom: [318, 278], time: [201, null], gettimeofday: [96, 169] },
  ...{ clock_gettime: [228, 113], clock_getres: [229, 114] },
  ...{ nanosleep: [35, 101], clock_nanosleep: [230, 115] },
}

/** What differs between the processors. `calls` are the numbers that the launcher of confined programs needs. */
type Processor = {
  column: 0 | 1
  auditArch: number
  clone: number
  calls: {
    fchdir: number
    setgroups: number
    setresgid: number
    setresuid: number
    prctl: number
    capset: number
    prlimit: number
    seccomp: number
  }
}

const processors: Readonly<Record<string, Processor>> = {
  x64: {
    ...{ column: 0, auditArch: 0xc000003e, clone: 56 },
    calls: {
      ...{ fchdir: 81, setgroups: 116, setresgid: 119, setresuid: 117 },
      ...{ prctl: 157, capset: 126, prlimit: 302, seccomp: 317 },
    },
  },
  arm64: {
    ...{ column: 1, auditArch: 0xc00000b7, clone: 220 },
    calls: {
      ...{ fchdir: 50, setgroups: 159, setresgid: 149, setresuid: 147 },
      ...{ prctl: 167, capset: 91, prlimit: 261, seccomp: 277 },
    },
  },
}

/** Returns what differs on this processor. Throws on one that Dock does not run on. */
export function processorOf(name: string): Processor {
  const found = processors[name]
  if (!found) throw new Error(`programs cannot be confined on a ${name} processor`)
  return found
}

// Classic BPF, as in linux/filter.h and linux/seccomp.h.
const load = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfAnyBit = 0x45
const give = 0x06
const allow = 0x7fff0000
const kill = 0x80000000
const fail = (errno: number): number => 0x00050000 | errno
const [EPERM, ENOSYS] = [1, 38]
const CLONE_THREAD = 0x10000
/** Calls of the x32 ABI have this bit. */
const x32 = 0x40000000
const [atNumber, atArch, atFirstArgument] = [0, 4, 16]

const step = (code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes[2] = ifTrue
  bytes[3] = ifFalse
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}

/** Returns the filter as an array of `struct sock_filter`. */
export function buildSystemCallFilter(processorName: string): Buffer {
  const { column, auditArch, clone } = processorOf(processorName)
  const numbers = Object.values(allowed).flatMap((each) => each[column] ?? [])
  const checks = numbers.map((number, index) => step(jumpIfEqual, number, numbers.length - index))
  return Buffer.concat([
    step(load, atArch),
    step(jumpIfEqual, auditArch, 1),
    step(give, kill),
    step(load, atNumber),
    step(jumpIfAtLeast, x32, 0, 1),
    step(give, fail(ENOSYS)),
    step(jumpIfEqual, clone, 0, 4),
    step(load, atFirstArgument),
    step(jumpIfAnyBit, CLONE_THREAD, 0, 1),
    step(give, allow),
    step(give, fail(EPERM)),
    ...checks,
    step(give, fail(ENOSYS)),
    step(give, allow),
  ])
}
