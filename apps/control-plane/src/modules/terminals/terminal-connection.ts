/** An open terminal in a Dock, whatever it shows. */
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { ProcessEnd, TerminalSize } from '../hosts/index.ts'

export type TerminalConnection = {
  /** What the person types. */
  input: Writable
  /** What the person sees. It fails if the connection to the host breaks. */
  output: Readable
  /** Resolves after `output` has ended: with an exit code, or with null if the Dock ended first. */
  exitCode(): Promise<number | null>
  resize(size: TerminalSize): Promise<void>
  /** Closes the terminal. Idempotent. */
  close(): void
}

const signalNumbers: Readonly<Record<string, number>> = constants.signals

/** Returns the exit code as a shell reports it, or null if nobody knows it. */
export function exitCodeOf({ exitCode, signal }: Pick<ProcessEnd, 'exitCode' | 'signal'>): number | null {
  const number = signal === null ? undefined : signalNumbers[`SIG${signal}`]
  return exitCode ?? (number === undefined ? null : 128 + number)
}
