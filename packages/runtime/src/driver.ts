/**
 * What the host agent asks of a runtime. A driver knows sandboxes, not Docks' disks or networks: it is handed a
 * mounted root filesystem and a network namespace, and answers with a handle that survives the agent's restart.
 */
import * as z from 'zod'

/** What is wanted of a sandbox. Everything here is decided before the driver is called. */
export type SandboxSpec = {
  /** Uuid of the Dock. */
  dockId: string
  /** Fencing number; a Dock's later boot has a higher one. */
  generation: number
  hostname: string
  cpus: number
  memoryMiB: number
  /** Mounted root filesystem, writable, owned by this sandbox alone. */
  rootPath: string
  /** Path of a network namespace that is ready: addresses, routes. */
  netnsPath: string
  /** Nameserver the sandbox should use. */
  nameserver: string
  /** Nobody waits for it: until it is up, whoever else wants a processor goes first. */
  inBackground?: boolean
  /** A folder that lies in the sandbox's memory; what is made in it belongs to this group. */
  inMemory?: { path: string; gid: number }
  /**
   * The body of a bash function that runs inside as root, with `env` and `input` to read, before anything else does. The
   * sandbox is up when it has returned 0; any other code fails the start.
   */
  prepare?: { script: string; env: Readonly<Record<string, string>>; input?: Buffer }
}

/** Written to a file by the agent, so that a later agent can adopt the sandbox. `data` belongs to the driver. */
export const sandboxHandle = z.strictObject({
  driver: z.string(),
  version: z.number().int(),
  dockId: z.string(),
  generation: z.number().int(),
  data: z.record(z.string(), z.unknown()),
})
export type SandboxHandle = z.infer<typeof sandboxHandle>

export type ExecRequest = {
  /** Program and arguments; the first is an absolute path inside the sandbox. */
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  /** Numeric ids inside the sandbox. */
  uid: number
  gid: number
  timeoutMs: number
  /** Bytes kept of each stream; what is beyond is read and dropped. */
  outputLimitBytes: number
  /** Written to standard input, which is closed after it; a command waits for what is promised. Empty when omitted. */
  input?: string | Buffer | Promise<Buffer>
  /** Told of each piece of output within the limit as it arrives. The result holds it all the same. */
  onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void
  /** Told once when the command runs, so that what finds it again can be stored. */
  onStarted?: (reference: ExecReference) => void
  /** Ends the command and its whole process tree when aborted; the result is then as of any that a signal ended. */
  signal?: AbortSignal
}

/**
 * What finds a command again after the agent that started it is gone: plain data, to be stored. `pid` is 0 where the
 * driver does not know it.
 */
export const execReference = z.strictObject({ pid: z.number().int().nonnegative(), mark: z.string() })
export type ExecReference = z.infer<typeof execReference>

export type ExecResult = {
  /** Exit code, or 128 + signal number when a signal ended it. */
  exitCode: number
  stdout: Buffer
  stderr: Buffer
  durationMs: number
  /** Whether either stream was longer than `outputLimitBytes`. */
  truncated: boolean
  /** Whether the timeout ended it: its whole process tree is gone. */
  timedOut: boolean
  /** Names of processes of it that were ended because the sandbox ran out of memory; absent is none. */
  endedForMemory?: readonly string[]
}

export type SandboxState = 'running' | 'gone'

/** One process inside a sandbox, as the runtime itself lists it. */
export type SandboxProcess = {
  pid: number
  parentPid: number
  uid: number
  /** Name of the program, at most 15 bytes; chosen by the process itself. */
  name: string
  /** Whether it is one of those that each sandbox has from its start: process 1 and the services below it. */
  isPlatform: boolean
}

/** What a sandbox uses of its host. */
export type SandboxUsage = {
  /** Processor time since its start. */
  cpuUsec: number
  memoryBytes: number
}

export type TerminalRequest = {
  env: Readonly<Record<string, string>>
  cwd: string
  uid: number
  gid: number
  cols: number
  rows: number
}

/** A login shell on a pseudo-terminal. Bytes both ways, in whatever pieces they come. */
export type Terminal = {
  /** `taken` is called once when the terminal has them, so that a writer faster than its program can wait. */
  write(data: string | Buffer, taken?: () => void): void
  resize(cols: number, rows: number): void
  /** One listener; what came before it was set is kept for it. */
  onData(listener: (chunk: Buffer) => void): void
  /** Stops reading, so that a command that writes faster than its reader waits. */
  pause(): void
  resume(): void
  /** Resolves when the shell has ended; never rejects. */
  readonly exited: Promise<{ exitCode: number }>
  /** Hangs up: the shell and what runs in the foreground end. Repeating it is harmless. */
  kill(): void
}

/** A command could not be started: the request is at fault (no such folder, no such program). */
export class ExecRefused extends Error {
  override readonly name = 'ExecRefused'
}

/** The sandbox is not there to take the command. */
export class SandboxGone extends Error {
  override readonly name = 'SandboxGone'
  /** Whether it died for want of memory, as far as is known. */
  readonly ranOutOfMemory: boolean
  constructor(
    message: string,
    { ranOutOfMemory, ...options }: ErrorOptions & { ranOutOfMemory?: boolean } = {},
  ) {
    super(message, options)
    this.ranOutOfMemory = ranOutOfMemory ?? false
  }
}

/** The sandbox is alive, but did not do what was asked because it is short of memory. Whether it was done is unknown. */
export class SandboxShortOfMemory extends Error {
  override readonly name = 'SandboxShortOfMemory'
}

/** A sandbox ran out of memory: the name of the process that was ended for it, or null when the sandbox itself died. */
export type OutOfMemory = { dockId: string; generation: number; process: string | null }

export type Fingerprint = { driver: string; version: string; detail: Record<string, string> }

export type RuntimeDriver = {
  readonly name: 'gvisor' | 'microvm'
  /** Probes that the runtime works on this machine. Throws with what to do when it does not. */
  fingerprint(): Promise<Fingerprint>
  /** Boots a sandbox and answers when a command can be run in it. A failed start leaves nothing behind. */
  start(spec: SandboxSpec): Promise<SandboxHandle>
  /** Takes over a sandbox that another process started; answers whether it still runs. */
  recover(handle: SandboxHandle): Promise<SandboxState>
  /** Resolves once when the sandbox is dead, whatever the cause; at once when it is dead already. */
  wait(handle: SandboxHandle): Promise<void>
  /** Runs one command to its end. Throws {@link ExecRefused} or {@link SandboxGone}. */
  exec(handle: SandboxHandle, request: ExecRequest): Promise<ExecResult>
  /** Ends the sandbox and removes all that the driver made for it. Repeating it is harmless. */
  destroy(handle: SandboxHandle): Promise<void>
  /** Sandboxes that the driver finds on this machine, with or without a handle, to clean up what nobody owns. */
  list(): Promise<SandboxHandle[]>

  // What not every runtime can do.

  /** Stops every process of the sandbox where it stands. Calls into it wait until {@link thaw}. Idempotent. */
  freeze?(handle: SandboxHandle): Promise<void>
  /** Lets a frozen sandbox go on. Idempotent. */
  thaw?(handle: SandboxHandle): Promise<void>
  /** The processes inside. Throws {@link SandboxGone}; must not be called while frozen. */
  processes?(handle: SandboxHandle): Promise<SandboxProcess[]>
  /** Tells of each sandbox that runs out of memory, from now on. */
  watchMemory?(listener: (event: OutOfMemory) => void): void
  /** What it uses now, frozen or not. Throws {@link SandboxGone}. */
  usage?(handle: SandboxHandle): Promise<SandboxUsage>
  /** Whether it runs on another release of the runtime than the one that new sandboxes get. */
  isOutdated?(handle: SandboxHandle): boolean
  /** Gives a running sandbox another host name. Throws {@link SandboxGone}; must not be called while frozen. */
  rename?(handle: SandboxHandle, hostname: string): Promise<void>
  /** Opens a login shell on a pseudo-terminal. Throws {@link ExecRefused} or {@link SandboxGone}. */
  openTerminal?(handle: SandboxHandle, request: TerminalRequest): Promise<Terminal>
  /** Exit code of a command that an earlier agent started; undefined when nobody knows it. Once for each command. */
  waitForExec?(handle: SandboxHandle, reference: ExecReference): Promise<number | undefined>
  /**
   * Commands under way that another instance began, whose process may be gone. Not what ended commands left in the
   * background, and no terminals. Throws {@link SandboxGone}; must not be called while frozen.
   */
  abandonedExecs?(handle: SandboxHandle): Promise<ExecReference[]>
  /** Ends what is left of a command: its whole process tree. */
  endExec?(handle: SandboxHandle, reference: ExecReference): Promise<void>
}
