/** A process in a Dock, as modules use it. */
import type { Readable, Writable } from 'node:stream'
import type { OpenProcess, ProcessEnd, SignalName, TerminalSize } from '@dock/host-protocol'

/** The request of a process, without the generation of the Dock. `env` defaults to no further variables. */
export type ProcessRequest = Omit<OpenProcess, 'generation' | 'env'> & {
  env?: Readonly<Record<string, string>>
  /** The outputs end when no process holds them any more. Without it, they end with the program. */
  waitsForOutputs?: boolean
}

/**
 * A process in a Dock, with back-pressure in both directions. Its outputs share one connection: while one of them is not
 * read, the other stops too. So read both, or call `resume` on the one that you ignore.
 */
export type RemoteProcess = {
  readonly id: string
  /** Ending it closes the program's input. */
  readonly stdin: Writable
  readonly stdout: Readable
  /** Empty with a pseudo-terminal. */
  readonly stderr: Readable
  /**
   * Resolves once the program has ended and both outputs were read to their end or destroyed. Rejects with
   * `HostUnreachable` if the connection to the host broke, or after {@link RemoteProcess.hangUp}.
   */
  readonly exited: Promise<ProcessEnd>
  /** Closes the program's standard output: a program that goes on writing gets SIGPIPE. */
  closeStdout(): void
  /** Does nothing without a pseudo-terminal. */
  resize(size: TerminalSize): Promise<void>
  /** Sends a signal to the program's process group. */
  signal(name: SignalName): Promise<void>
  /** Leaves: the host sends HUP to the program's process group. Daemons that it started live on. Idempotent. */
  hangUp(): void
}
