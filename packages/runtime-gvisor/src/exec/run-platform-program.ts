/**
 * Runs a program of the platform in a sandbox. Such programs look at all processes of the sandbox, which takes seconds if
 * there are thousands. If many ran at once, or went on after nobody waits for them, they would take the processor from what
 * they wait for.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createSerial } from '@dock/foundation'
import type { Command, ExecTransport, StartedCommand } from './exec-transport.ts'
import { type RunResult, runToEnd } from './run-to-end.ts'

export type PlatformProgram = Pick<Command, 'argv' | 'fromHost' | 'alsoHolding'> & {
  env?: Command['env']
  outputLimitBytes?: number
  /** The time that the program has once it is its turn. */
  deadlineMs: number
}

const inTurn = createSerial()

/**
 * Runs the program as root, after the programs of the same `lane` of this sandbox. At its deadline the program is killed, and the
 * exit code is `unknown`.
 */
export function runPlatformProgram(
  transport: ExecTransport,
  sandboxId: string,
  lane: 'end-tree' | 'other',
  { argv, fromHost, env = {}, alsoHolding, outputLimitBytes = 0, deadlineMs }: PlatformProgram,
): Promise<RunResult> {
  const command = {
    ...{ argv, fromHost, env, cwd: '/', uid: 0, gid: 0, alsoBounding: [] },
    ...(alsoHolding ? { alsoHolding } : {}),
  }
  return inTurn(`${sandboxId} ${lane}`, async () => {
    const late = new AbortController()
    let started: StartedCommand | undefined
    const abandoned = delay(deadlineMs, undefined, { signal: late.signal, ref: false }).then(
      () => void started?.kill().catch(() => undefined),
      () => undefined,
    )
    const onStarted = (command: StartedCommand): void => {
      started = command
    }
    try {
      return await runToEnd(transport, sandboxId, command, { outputLimitBytes, onStarted }, abandoned)
    } finally {
      late.abort()
    }
  })
}
