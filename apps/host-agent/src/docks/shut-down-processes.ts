/**
 * Graceful shutdown inside a sandbox: sends SIGTERM to the user's processes, waits briefly for them to end, then syncs the
 * filesystem. Without processes of the user there is no wait.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { waitAtMost } from '@dock/foundation'
import type { ExecRequest, SandboxHandle } from '@dock/runtime'
import type { DockState } from '../sandboxes/dock-state.ts'
import { staticBash } from '../sandboxes/login-shell.ts'
import { hangUpTerminals } from '../sandboxes/processes/open-process.ts'

/** How long processes may take to end after SIGTERM. */
const graceMs = 1_000
const lookAgainMs = 10
/** How long the hang-up of the terminals may hold a stop up. */
const hangUpMs = 300
const syncTimeoutMs = 10_000
const tellTimeoutMs = 1_000

/** Runs a command as root inside the sandbox. */
const run = (
  dock: DockState,
  handle: SandboxHandle,
  program: Pick<ExecRequest, 'argv' | 'executable'>,
  timeoutMs: number,
) =>
  dock.parts.driver.exec(handle, {
    ...program,
    cwd: '/',
    uid: 0,
    gid: 0,
    timeoutMs,
    outputLimitBytes: 1024,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  })

/** Resolves when no process of the user is left or the grace period is over. Also signals processes that appear later. */
const askToEnd = async (dock: DockState, handle: SandboxHandle): Promise<void> => {
  // First, or the TERM that follows ends what would pass the hang-up on.
  await waitAtMost(dock.parts.clock, hangUpMs, hangUpTerminals(dock))
  const asked = new Set<number>()
  for (const begin = performance.now(); performance.now() - begin < graceMs; await delay(lookAgainMs)) {
    const processes = await dock.parts.driver.processes(handle)
    const own = processes.filter(({ isPlatform }) => !isPlatform).map(({ pid }) => pid)
    if (own.length === 0) return
    const untold = own.filter((pid) => !asked.has(pid))
    for (const pid of untold) asked.add(pid)
    if (untold.length === 0) continue
    const argv = ['/bin/bash', '-c', 'kill -TERM "$@" 2>/dev/null', 'shutdown', ...untold.map(String)]
    await run(dock, handle, { argv, executable: staticBash }, tellTimeoutMs)
  }
}

/** Asks the user's processes to end and syncs. Logs errors and returns: the sandbox is ended in any case. */
export async function shutDownProcesses(dock: DockState, handle: SandboxHandle): Promise<void> {
  const { freezer } = dock.parts
  if (freezer.isGuarding) return
  try {
    await freezer.thaw(handle, 'idle')
    await askToEnd(dock, handle)
    await run(dock, handle, { argv: ['/bin/sync'] }, syncTimeoutMs)
  } catch (error) {
    dock.logger.warn({ err: error }, 'graceful shutdown failed; ending the sandbox')
  }
}
