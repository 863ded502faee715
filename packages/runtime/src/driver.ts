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
  /**
   * The body of a bash function that runs inside as root, with `env`, before anything else does. The sandbox is up when
   * it has returned 0; any other code fails the start.
   */
  prepare?: { script: string; env: Readonly<Record<string, string>> }
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
  /** Written to standard input, which is closed after it. Empty when omitted. */
  input?: string
}

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
}

export type SandboxState = 'running' | 'gone'

/** A command could not be started: the request is at fault (no such folder, no such program). */
export class ExecRefused extends Error {
  override readonly name = 'ExecRefused'
}

/** The sandbox is not there to take the command. */
export class SandboxGone extends Error {
  override readonly name = 'SandboxGone'
}

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
}
