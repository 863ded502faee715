/**
 * The interface between the host agent and a runtime. A driver manages sandboxes, not the disks or networks of Docks:
 * it gets a disk and a network namespace, and returns a handle that survives a restart of the agent.
 */
import type { Readable, Writable } from 'node:stream'
import type { RuntimeName } from '@dock/contract'
import * as z from 'zod'

/**
 * A Dock's disk, as its runtime takes it: the path of its mounted root filesystem, or of an ext4 disk that is not mounted.
 * Both are writable and owned by one sandbox alone.
 */
export type SandboxDisk = { mount: string } | { device: string }

/** The configuration of a sandbox. */
export type SandboxSpec = {
  /** Uuid of the Dock. */
  dockId: string
  /** Fencing number; each later boot of the Dock has a higher one. */
  generation: number
  hostname: string
  cpus: number
  memoryMiB: number
  /** In the form of {@link RuntimeDriver.takesDisk}. */
  disk: SandboxDisk
  /** Path of a network namespace with addresses and routes already configured. */
  netnsPath: string
  /** Nameserver of the sandbox. */
  nameserver: string
  /** True if no user waits for this boot: it gets a small CPU share until the sandbox is up. */
  inBackground?: boolean
  /** A tmpfs folder inside the sandbox. Files created in it belong to the group `gid`. */
  inMemory?: { path: string; gid: number }
  /**
   * The body of a bash function that runs inside the sandbox as root before anything else. It can read `env` and, on
   * standard input, `input`. The sandbox is up when the function returns 0; any other code fails the start.
   */
  prepare?: { script: string; env: Readonly<Record<string, string>>; input?: Buffer }
}

/** The agent stores it in a file, so that a later agent can adopt the sandbox. `data` is private to the driver. */
export const sandboxHandle = z.object({
  driver: z.string(),
  version: z.number().int(),
  dockId: z.string(),
  generation: z.number().int(),
  data: z.record(z.string(), z.unknown()),
})
export type SandboxHandle = z.infer<typeof sandboxHandle>

export type ExecRequest = {
  /** Program and arguments. The program is an absolute path inside the sandbox. */
  argv: readonly string[]
  /** A file that runs in place of `argv[0]`, with the same `argv`, if the sandbox has it. A driver may ignore it. */
  executable?: string | undefined
  env: Readonly<Record<string, string>>
  cwd: string
  /** Numeric ids inside the sandbox. */
  uid: number
  gid: number
  timeoutMs: number
  /** Bytes kept of each output stream; the rest is read and dropped. */
  outputLimitBytes: number
  /** Written to standard input, which is then closed. The command may wait for a promise. Default: empty. */
  input?: string | Buffer | Promise<Buffer>
  /** Called with each piece of output within the limit as it arrives. The result also contains this output. */
  onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void
  /** Called once when the command has started, so that the caller can store the reference. */
  onStarted?: (reference: ExecReference) => void
  /** When aborted, kills the command and its whole process tree. The result is that of a command killed by a signal. */
  signal?: AbortSignal
}

/**
 * Serialisable data that identifies a running command to a later agent. `pid` is 0 if the driver does not know it.
 * `pty`: the process is the one that holds the pseudo-terminal of the program, not the program itself. `carried`: a process of
 * the driver moves the bytes between the program and the descriptors of its request.
 */
export const execReference = z.object({
  pid: z.number().int().nonnegative(),
  mark: z.string(),
  pty: z.literal(true).optional(),
  carried: z.literal(true).optional(),
})
export type ExecReference = z.infer<typeof execReference>

export type ExecResult = {
  /** The exit code, or 128 + signal number if a signal killed the command. */
  exitCode: number
  stdout: Buffer
  stderr: Buffer
  durationMs: number
  /** True if either stream was longer than `outputLimitBytes`. */
  truncated: boolean
  /** True if the timeout killed the command with its whole process tree. */
  timedOut: boolean
  /** Names of the command's processes that were killed because the sandbox ran out of memory. Absent means none. */
  killedForMemory?: readonly string[]
}

export type SandboxState = 'running' | 'gone'

/** A process inside a sandbox, as the runtime lists it. */
export type SandboxProcess = {
  pid: number
  parentPid: number
  uid: number
  /** Name of the program, at most 15 bytes. The process itself can change it. */
  name: string
  /** True for the processes that every sandbox has from its start: process 1 and its services. */
  isPlatform: boolean
}

/** A sandbox's usage of the host. */
export type SandboxUsage = {
  /** CPU time since the sandbox started. */
  cpuUsec: number
  memoryBytes: number
}

/** Numbers of the signals that can be sent to a process, as on Linux for x86-64 and ARM. */
export const signalNumbers = {
  ...{
    HUP: 1,
    INT: 2,
    QUIT: 3,
    ILL: 4,
    TRAP: 5,
    ABRT: 6,
    BUS: 7,
    FPE: 8,
    KILL: 9,
    USR1: 10,
    SEGV: 11,
    USR2: 12,
  },
  ...{ PIPE: 13, ALRM: 14, TERM: 15, CONT: 18, STOP: 19, TSTP: 20, TTIN: 21, TTOU: 22, WINCH: 28 },
} as const
export type SignalName = keyof typeof signalNumbers

/**
 * `group`: the process group of the program. With a pseudo-terminal, HUP to a group also reaches the group in the
 * foreground of the terminal, as the hang-up of a terminal does. `attached`: as `group`, but without a pseudo-terminal only
 * the program and what holds one of its streams, also after the end of the program. A server whose output goes elsewhere is not attached.
 */
export type SignalTarget = 'process' | 'group' | 'attached' | 'tree'

export type ProcessRequest = {
  /** Program and arguments. A program without a slash is searched in the PATH of `env`. */
  argv: readonly string[]
  /** A file that runs in place of `argv[0]`, with the same `argv`, if the sandbox has it. A driver may ignore it. */
  executable?: string | undefined
  env: Readonly<Record<string, string>>
  cwd: string
  /** Numeric ids inside the sandbox. */
  uid: number
  gid: number
  /** Runs the program on a pseudo-terminal of this size, which carries input and all output. */
  pty?: { cols: number; rows: number }
  /**
   * Descriptors of the caller that become the program's streams instead of pipes of the driver. The streams of the
   * result are then null. The caller may close its descriptors once the process is open.
   */
  descriptors?: readonly [number, number, number]
  /** Lets the outputs end when nobody holds them any more, which may be long after the end of the program. */
  waitsForOutputs?: boolean
  /** Called once when the process has started, so that the caller can store the reference. */
  onStarted?: (reference: ExecReference) => void
}

/**
 * A running process with streams. Back-pressure goes both ways: a program blocks while its output is not read. The
 * outputs end with the program, even if processes that it left behind keep them open, unless the request says otherwise.
 */
export type OpenProcess = {
  reference: ExecReference
  stdin: Writable | null
  stdout: Readable | null
  /** Null with a pseudo-terminal too. */
  stderr: Readable | null
  /**
   * Resolves when the program has ended, whether its output was read or not. Rejects if the sandbox died first, or with
   * {@link StreamsLost}.
   */
  exited: Promise<ProcessEnd>
  /** Resizes the pseudo-terminal. Does nothing without one, or after the end. */
  resize(cols: number, rows: number): void
}

/** `exitCode` is null if a signal ended the program, which `signal` then names. Both are null if the end is unknown. */
export type ProcessEnd = {
  exitCode: number | null
  signal: string | null
  /** Names of processes that were killed because the sandbox ran out of memory. Absent means none. */
  killedForMemory?: readonly string[]
}

/** Converts an exit code as shells have it: 128 + number means that a signal ended the program. */
export function processEndOf(code: number): ProcessEnd {
  const signal = Object.entries(signalNumbers).find(([, number]) => number === code - 128)?.[0]
  return signal ? { exitCode: null, signal } : { exitCode: code, signal: null }
}

/** The command could not be started because the request is wrong: the folder or program does not exist. */
export class ExecRefused extends Error {
  override readonly name = 'ExecRefused'
}

/** The sandbox is dead. */
export class SandboxGone extends Error {
  override readonly name = 'SandboxGone'
  /** True if the sandbox is known to have died because it ran out of memory. */
  readonly ranOutOfMemory: boolean
  constructor(
    message: string,
    { ranOutOfMemory, ...options }: ErrorOptions & { ranOutOfMemory?: boolean } = {},
  ) {
    super(message, options)
    this.ranOutOfMemory = ranOutOfMemory ?? false
  }
}

/** What moved the bytes of a program from and to its descriptors has died. The program was ended: bytes are missing. */
export class StreamsLost extends Error {
  override readonly name = 'StreamsLost'
}

/** The call failed because the sandbox is short of memory. The sandbox is alive; the call may have taken effect. */
export class SandboxShortOfMemory extends Error {
  override readonly name = 'SandboxShortOfMemory'
}

/** Outputs of a program that has ended, which processes that it left behind still hold. */
export type LeftOutputs = {
  dockId: string
  generation: number
  /** The read ends of their pipes, as descriptors of this process. */
  descriptors: readonly number[]
}

/** A sandbox ran out of memory. `process` is the name of the killed process, or null if the sandbox itself died. */
export type OutOfMemory = { dockId: string; generation: number; process: string | null }

/** The release of the runtime that new sandboxes get. */
export type RuntimeRelease = {
  version: string
  /** Where the installed program comes from, if that is known. */
  source?: string
  /** The date of the release, as 2026-10-12, if the version contains it. */
  releasedAt?: string
}

export type Fingerprint = {
  driver: string
  version: string
  detail: Record<string, string>
  /** The runtime emulates the processor, so sandboxes are many times slower. */
  isEmulated?: true
}

export type RuntimeDriver = {
  readonly name: RuntimeName
  readonly capabilities: RuntimeCapabilities
  /** Whether sandboxes start on a mounted disk, or on a device that the host never mounts. */
  readonly takesDisk: 'mount' | 'device'
  /** Memory of the host that a sandbox may take beyond the size of its Dock. */
  readonly memoryHeadroomMiB: number
  /** Checks that the runtime works on this machine. Throws an error that says what to do if it does not. */
  fingerprint(): Promise<Fingerprint>
  /** Returns the installed release, which may be replaced at any time. */
  readRelease(): Promise<RuntimeRelease>
  /** Boots a sandbox. Resolves when it can run a command. A failed start leaves nothing behind. */
  start(spec: SandboxSpec): Promise<SandboxHandle>
  /** Adopts a sandbox that another process started, and returns its state. */
  recover(handle: SandboxHandle): Promise<SandboxState>
  /** Resolves when the sandbox is dead for any reason, immediately if it already is. */
  wait(handle: SandboxHandle): Promise<void>
  /** Ends the sandbox and removes everything the driver created for it. Idempotent. */
  destroy(handle: SandboxHandle): Promise<void>
  /** Returns all sandboxes on this machine, including those without a stored handle, so that orphans can be removed. */
  list(): Promise<SandboxHandle[]>

  /** Runs a command until it ends. Throws {@link ExecRefused} or {@link SandboxGone}. */
  exec(handle: SandboxHandle, request: ExecRequest): Promise<ExecResult>
  /**
   * Waits for a command that an earlier agent started, and returns its exit code, or undefined if the code is lost. Throws
   * {@link StreamsLost}. Call it once per command.
   */
  waitForExec(handle: SandboxHandle, reference: ExecReference): Promise<number | undefined>
  /**
   * Returns the running commands and programs that another driver instance started; the process of that instance may be
   * dead. Excludes background processes of those that have ended. Throws {@link SandboxGone}; must not be called while frozen.
   */
  abandonedExecs(handle: SandboxHandle): Promise<ExecReference[]>
  /** Kills the remaining process tree of a command. */
  endExec(handle: SandboxHandle, reference: ExecReference): Promise<void>

  /** Starts a program with streams. Throws {@link ExecRefused} or {@link SandboxGone}. */
  openProcess(handle: SandboxHandle, request: ProcessRequest): Promise<OpenProcess>
  /** Sends a signal to a process that any driver instance opened. Does nothing if it has ended. */
  signalProcess(
    handle: SandboxHandle,
    reference: ExecReference,
    signal: SignalName,
    target: SignalTarget,
  ): Promise<void>
  /** Resizes the pseudo-terminal of a process that any driver instance opened. Does nothing if it has none or has ended. */
  resizeProcess(handle: SandboxHandle, reference: ExecReference, cols: number, rows: number): Promise<void>
  /** Lists the processes inside. Throws {@link SandboxGone}; must not be called while frozen. */
  processes(handle: SandboxHandle): Promise<SandboxProcess[]>
}

/** Pausing and resuming sandboxes. */
export type Freezing = {
  /**
   * Pauses every process of the sandbox. Calls into the sandbox wait until {@link Freezing.thaw}. Idempotent. Returns false
   * if the sandbox did not first write what it has in memory: its disk then is as after a power cut.
   */
  freeze(handle: SandboxHandle): Promise<boolean>
  /** Resumes a frozen sandbox. Idempotent. */
  thaw(handle: SandboxHandle): Promise<void>
}

/**
 * A blank: a sandbox that was created before it was known for which Dock. {@link RuntimeDriver.start} uses the one that
 * waits in the network namespace of its specification if the other fields are the same, which saves a part of the boot.
 */
export type BlankSpec = Pick<SandboxSpec, 'cpus' | 'memoryMiB' | 'netnsPath' | 'inMemory'>

/**
 * Creating sandboxes ahead. A start that fails with a blank removes it, and may leave its network namespace without
 * addresses and routes.
 */
export type Blanks = {
  /**
   * Creates a blank. Returns false if blanks are of no use on this machine, at least for a time. After an error, something
   * may be left in the network namespace until {@link Blanks.remove} succeeds.
   */
  create(spec: BlankSpec): Promise<boolean>
  /** Removes the blank that waits in this network namespace, and what is left of one. Otherwise does nothing. */
  remove(netnsPath: string): Promise<void>
}

/** What a runtime may lack. Null says so, and callers must look: the agent works without any of them. */
export type RuntimeCapabilities = {
  blanks: Blanks | null
  /** Without it no sandbox waits in the warm pool, idle Docks stay awake, and a stop ends the sandbox before its capture. */
  freezing: Freezing | null
  /** Returns the current usage, even while frozen. Throws {@link SandboxGone}. */
  readUsage: ((handle: SandboxHandle) => Promise<SandboxUsage>) | null
  /** Changes the host name of a running sandbox. Throws {@link SandboxGone}; must not be called while frozen. */
  rename: ((handle: SandboxHandle, hostname: string) => Promise<void>) | null
  /** Returns true if the sandbox runs on a different release of the runtime than new sandboxes. */
  isOutdated: ((handle: SandboxHandle) => boolean) | null
  /** From now on, calls `listener` whenever a sandbox runs out of memory. */
  watchMemory: ((listener: (event: OutOfMemory) => void) => void) | null
  /**
   * From now on, calls `keep` when a command or program has ended and processes that it left behind hold its outputs.
   * `keep` opens the pipes again, by their paths in /proc, and reads them, so that the writers go on. The driver closes its
   * own descriptors when the promise settles. Without this call the pipes close, and SIGPIPE ends who writes.
   */
  keepLeftOutputs: ((keep: (left: LeftOutputs) => Promise<void>) => void) | null
}

/** The capabilities of a driver that lacks nothing. */
export type AllCapabilities = {
  [Name in keyof RuntimeCapabilities]: NonNullable<RuntimeCapabilities[Name]>
}
