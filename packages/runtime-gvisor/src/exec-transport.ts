/** How a command gets into a sandbox: the sentry's control socket, or `runsc exec` where that cannot be used. */
import type { Capability } from './capabilities.ts'

export type Command = {
  argv: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  uid: number
  gid: number
  /** Put into the bounding set beside what the user's processes always have there. */
  alsoBounding: readonly Capability[]
  /** Held beside what the user's processes hold: for a program of the platform, never for a tenant's. */
  alsoHolding?: readonly Capability[]
}

/** A command that was handed over. */
export type StartedCommand = {
  /** Number of its process inside; 0 when the transport does not know it yet. */
  pid(): Promise<number>
  /** Exit code, or `refused` when there never was a process; standard error then says why. Awaited exactly once. */
  ended: Promise<number | 'refused'>
  /** Kills its process and that one's descendants from outside, for when nothing can be run inside any more. */
  kill(): Promise<void>
  /** Ends what the transport itself keeps on the host for it, once the command is known to be dead or given up. */
  release(): void
}

export type ExecTransport = {
  readonly name: string
  /**
   * Starts a command with copies of three descriptors as its standard streams; the caller closes its own.
   * Throws ExecRefused when the sandbox will not start it, anything else when that is unknown.
   */
  start(
    sandboxId: string,
    command: Command,
    streams: readonly [number, number, number],
  ): Promise<StartedCommand>
}
