/** Ends a sandbox and removes all that was made for it, whatever state it is in. */
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type HostProcess, hostProcess, isAlive } from './host-process.ts'
import type { Runsc } from './runsc.ts'
import { type CgroupMount, SandboxCgroup } from './sandbox-cgroup.ts'
import { holdRunscOf } from './sandbox-program.ts'
import { readSandboxState } from './sandbox-state.ts'

const deathTimeoutMs = 5000
const deathPollMs = 1
/** One that was killed, or ran out of its time on a busy machine, is tried again. */
const deletesMax = 3

/** Removes the sandbox of this id and its folder. Repeating it is harmless. */
export async function removeSandbox(
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  id: string,
  folder: string,
): Promise<void> {
  const { pid, goferPid } = await readSandboxState(runsc.rootDir, id)
  const sandbox = processOf(pid, id)
  const held = await holdRunscOf(runsc, folder, sandbox?.pid)
  try {
    await end(
      held.runsc,
      mounts,
      id,
      [sandbox, processOf(goferPid, id)].filter((each) => each !== undefined),
    )
  } finally {
    await held.close()
  }
  await rm(folder, { recursive: true, force: true })
}

const end = async (
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  id: string,
  processes: readonly HostProcess[],
): Promise<void> => {
  // Left to runsc, each of the two deaths would be looked for only every 100 ms.
  await kill(processes, () => SandboxCgroup.named(mounts, id).thaw())
  for (let deletes = 1; ; deletes++) {
    const deleted = await runsc.run(['delete', '--force', id])
    if (deleted.code === 0 || (await readSandboxState(runsc.rootDir, id)).pid === 0) break
    if (deletes === deletesMax) throw new Error(`runsc delete ${id}: ${deleted.stderr.trim().slice(-500)}`)
  }
}

/** The sandbox's process of this number; the number may be another's by now. */
const processOf = (pid: number, id: string): HostProcess | undefined => {
  const process = pid > 0 ? hostProcess(pid) : undefined
  try {
    return process && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(id) ? process : undefined
  } catch {
    return undefined
  }
}

/**
 * On return the processes are dead. A frozen one takes the signal and dies when it is let go on: never before, or it
 * would work on for a moment after its disk was captured. `thaw` also lets go on what a broken boot left standing.
 */
const kill = async (processes: readonly HostProcess[], thaw: () => void): Promise<void> => {
  for (const { pid } of processes) ignoring(() => process.kill(pid, 'SIGKILL'))
  ignoring(thaw)
  const begin = performance.now()
  while (processes.some(isAlive)) {
    if (performance.now() - begin > deathTimeoutMs) throw new Error('a sandbox does not die')
    await delay(deathPollMs)
  }
}

/** What is dead takes no signal and has no group to be let go on. */
const ignoring = (act: () => void): void => {
  try {
    act()
  } catch {}
}
