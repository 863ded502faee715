/** The runsc program with the flags that every call of it shares. */
import { type CommandResult, tryCommand } from '@dock/foundation'

export type Runsc = {
  readonly path: string
  /** Where it keeps what it knows of its sandboxes. */
  readonly rootDir: string
  /** Program and arguments for a call. */
  args(...args: string[]): string[]
  /** Runs to the end, whatever the exit code. `timeoutMs` ends a call that hangs. */
  run(args: readonly string[], timeoutMs?: number): Promise<CommandResult>
  /** The same, by the program at another path. */
  at(path: string): Runsc
}

/** What a sandbox's own sentry makes it print may be without end. */
const outputBytesMax = 8 * 2 ** 20

/** `rootDir` is where runsc keeps what it knows of its sandboxes; `panicLog` a file for the last words of a sentry. */
export function createRunsc(path: string, rootDir: string, panicLog: string): Runsc {
  const flags = [
    `--root=${rootDir}`,
    '--platform=systrap',
    '--network=sandbox',
    // Writes must land on the Dock's disk, not in memory.
    '--overlay2=none',
    `--panic-log=${panicLog}`,
  ]
  const args = (...rest: string[]) => [...flags, ...rest]
  return {
    path,
    rootDir,
    args,
    run: (rest, timeoutMs = 30_000) => tryCommand(path, args(...rest), { timeoutMs, outputBytesMax }),
    at: (other) => createRunsc(other, rootDir, panicLog),
  }
}
