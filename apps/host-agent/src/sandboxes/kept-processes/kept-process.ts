/** A kept process as the agent knows it. */
import type { SandboxHandle } from '@dock/runtime'
import type { KeptRecord } from './kept-record.ts'

export type KeptProcess = {
  record: KeptRecord
  /** The sandbox in which it runs. Null after its end. */
  sandbox: SandboxHandle | null
  /** Resolves when the process has ended and its record says so. Never rejects. */
  readonly ended: Promise<void>
  readonly markEnded: () => void
  /** Why the agent ends it, if it does. */
  endedBecause: 'timed_out' | 'keeper_lost' | null
}

/** By id, oldest first. */
export type KeptProcesses = Map<string, KeptProcess>

export function createKeptProcess(record: KeptRecord, sandbox: SandboxHandle | null): KeptProcess {
  const { promise: ended, resolve: markEnded } = Promise.withResolvers<void>()
  if (record.end) markEnded()
  return { record, sandbox, ended, markEnded, endedBecause: null }
}

export function isRunning({ record }: KeptProcess): boolean {
  return record.end === null
}

export function countRunning(kept: KeptProcesses): number {
  let running = 0
  for (const each of kept.values()) if (isRunning(each)) running += 1
  return running
}
