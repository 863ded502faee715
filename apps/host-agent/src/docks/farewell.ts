/**
 * What a sandbox is told before it ends: its user's processes are asked to end and get a moment for it, then it hands over
 * what it holds back of its files. Where nothing of the user's runs, nothing is waited for.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { SandboxHandle } from '@dock/runtime'
import type { DockState } from './dock-state.ts'

/** A process that has not ended by then is not going to. */
const graceMs = 1_000
const lookAgainMs = 10
const syncTimeoutMs = 10_000
const tellTimeoutMs = 1_000

/** As root inside. Each argument reaches the command as it is. */
const run = (dock: DockState, handle: SandboxHandle, argv: readonly string[], timeoutMs: number) =>
  dock.parts.driver.exec(handle, {
    ...{ argv, cwd: '/', uid: 0, gid: 0, timeoutMs, outputLimitBytes: 1024 },
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  })

/** Ends when no process of the user's is left, or their time is up. Those that come meanwhile are asked as well. */
const askToEnd = async (dock: DockState, handle: SandboxHandle): Promise<void> => {
  // A shell at its prompt ends when it is hung up, not when it is asked.
  for (const terminal of dock.terminals.values()) terminal?.kill()
  const asked = new Set<number>()
  for (const begin = performance.now(); performance.now() - begin < graceMs; await delay(lookAgainMs)) {
    const processes = (await dock.parts.driver.processes?.(handle)) ?? []
    const own = processes.filter(({ isPlatform }) => !isPlatform).map(({ pid }) => pid)
    if (own.length === 0) return
    const untold = own.filter((pid) => !asked.has(pid))
    for (const pid of untold) asked.add(pid)
    if (untold.length === 0) continue
    const told = ['/bin/bash', '-c', 'kill -TERM "$@" 2>/dev/null', 'farewell', ...untold.map(String)]
    await run(dock, handle, told, tellTimeoutMs)
  }
}

/** A sandbox that cannot take it any more ends all the same. */
export async function sayFarewell(dock: DockState, handle: SandboxHandle): Promise<void> {
  const { freezer } = dock.parts
  if (freezer.isGuarding) return
  try {
    await freezer.thaw(handle, 'idle')
    await askToEnd(dock, handle)
    await run(dock, handle, ['/bin/sync'], syncTimeoutMs)
  } catch (error) {
    dock.logger.warn({ err: error }, 'the sandbox took no farewell')
  }
}
