/** The runsc program with the flags shared by all calls. */
import { type CommandResult, tryCommand } from '@dock/foundation'
import { readBootFlags } from './boot-flags.ts'
import { oncePerProgram } from './once-per-program.ts'

export type Runsc = {
  readonly path: string
  /** The folder for runsc's state. */
  readonly rootDir: string
  /** Returns the arguments of a call, including the shared flags. */
  args(...args: string[]): string[]
  /** Returns the arguments of a call that creates a sandbox: also the flags that only newer releases know. */
  bootArgs(...args: string[]): Promise<string[]>
  /** Runs a call and returns its result for any exit code. A call that hangs is killed after `timeoutMs`. */
  run(args: readonly string[], timeoutMs?: number): Promise<CommandResult>
  /** Returns the same configuration with the program at another path. */
  at(path: string): Runsc
  /** Returns the same configuration for sandboxes without a network. */
  offline(): Runsc
}

/** Bounds the output of runsc, because a hostile sentry may make it print without end. */
const outputBytesMax = 8 * 2 ** 20

/** `rootDir` is the folder for runsc's state, `panicLog` the file for panic messages of sentries. */
export function createRunsc(
  path: string,
  rootDir: string,
  panicLog: string,
  network: 'sandbox' | 'none' = 'sandbox',
): Runsc {
  const flags = [
    `--root=${rootDir}`,
    '--platform=systrap',
    `--network=${network}`,
    // Writes must go to the Dock's disk, not to memory.
    '--overlay2=none',
    `--panic-log=${panicLog}`,
  ]
  const args = (...rest: string[]) => [...flags, ...rest]
  const bootFlags = oncePerProgram(path, () => readBootFlags(path))
  return {
    path,
    rootDir,
    args,
    bootArgs: async (...rest) => args(...(await bootFlags()), ...rest),
    run: (rest, timeoutMs = 30_000) => tryCommand(path, args(...rest), { timeoutMs, outputBytesMax }),
    at: (other) => createRunsc(other, rootDir, panicLog, network),
    offline: () => createRunsc(path, rootDir, panicLog, 'none'),
  }
}
