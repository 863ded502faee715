/** Kills the whole process tree of a command, including detached, reparented and renamed processes. */
import { setTimeout as delay } from 'node:timers/promises'
import { ExecRefused } from '@dock/runtime'
import { markedBoundingSet } from '../sandbox/exec-mark.ts'
import { endTreeProgram } from './end-tree-program.ts'
import type { ExecTransport } from './exec-transport.ts'
import { runPlatformProgram } from './run-platform-program.ts'

const attemptMs = 20_000
const retryMs = 250
const outputLimitBytes = 4096

export type Tree = {
  mark: string
  /** Time since the command was started. */
  ageMs: number
  /** Kills from outside what can be killed without a program inside. */
  kill: () => Promise<void>
}

/**
 * Resolves when no process of the tree is left, or the sandbox is dead. Retries without a limit, because a frozen
 * sandbox responds only after it is thawed.
 */
export async function endTree(
  transport: ExecTransport,
  sandbox: { id: string; isAlive: boolean },
  tree: Tree,
): Promise<void> {
  const begin = performance.now()
  while (sandbox.isAlive) {
    const ageMs = tree.ageMs + performance.now() - begin
    const ended = await attempt(transport, sandbox.id, tree.mark, ageMs)
    if (ended === 0) return
    // The sandbox no longer has a bash.
    if (ended === 'refused') return tree.kill().catch(() => undefined)
    await delay(retryMs)
  }
}

const attempt = async (
  transport: ExecTransport,
  sandboxId: string,
  mark: string,
  ageMs: number,
): Promise<number | 'refused' | 'unknown'> => {
  const argumentsOf = [mark, markedBoundingSet(mark), String(Math.ceil(ageMs / 10))]
  const argv = ['/bin/bash', '-c', endTreeProgram, 'end-tree', ...argumentsOf]
  const program = { argv, outputLimitBytes, deadlineMs: attemptMs }
  try {
    return (await runPlatformProgram(transport, sandboxId, 'end-tree', program)).exitCode
  } catch (error) {
    return error instanceof ExecRefused ? 'refused' : 'unknown'
  }
}
