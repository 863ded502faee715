/** The way a command is started in a sandbox: through the sentry's control socket, or with `runsc exec`. */
import type { Capability } from '../sandbox/capabilities.ts'

export type Command = {
  argv: readonly string[]
  /** A file that runs in place of `argv[0]`, if the transport can do that and the sandbox has the file. */
  executable?: string | undefined
  /** A descriptor of a program of this host that runs in place of `argv[0]`, which then may be any text. */
  fromHost?: number | undefined
  env: Readonly<Record<string, string>>
  cwd: string
  uid: number
  gid: number
  /** Capabilities added to the usual bounding set. */
  alsoBounding: readonly Capability[]
  /** Capabilities added to those the user's processes hold. Only for programs of the platform, never for a tenant's. */
  alsoHolding?: readonly Capability[]
}

/** A command that was passed to the sandbox. */
export type StartedCommand = {
  /** Resolves to the pid inside the sandbox once it is known, or to 0 if the command ended before or never ran. */
  pid(): Promise<number>
  /**
   * The exit code, or `refused` if no process was created; standard error then has the reason. Await it exactly once.
   */
  ended: Promise<number | 'refused'>
  /**
   * Once `ended` has resolved: true if a signal ended the command. Absent if the transport cannot tell, because a code
   * above 128 may also be the command's own.
   */
  wasSignalled?(): boolean
  /** Kills the process and its descendants from outside, if no program can run inside any more. */
  kill(): Promise<void>
  /** Releases what the transport keeps on the host. Call it once the command is dead or abandoned. */
  release(): void
}

export type ExecTransport = {
  readonly name: string
  /**
   * Starts a command with copies of three descriptors as its standard streams; the caller closes its own. Throws
   * ExecRefused if the sandbox refuses the command. After any other error, the command may or may not run.
   */
  start(
    sandboxId: string,
    command: Command,
    streams: readonly [number, number, number],
  ): Promise<StartedCommand>
}
