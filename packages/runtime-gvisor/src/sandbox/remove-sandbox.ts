/** Ends a sandbox in any state and removes everything created for it. */
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type CgroupMount, SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import { replacedGofer, runscFolderOf, runscNameOf } from '../runsc/blank-record.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { holdRunscOf } from '../runsc/sandbox-program.ts'
import { readSandboxState } from '../runsc/sandbox-state.ts'
import { type HostProcess, hostProcess, isAlive } from '../system/host-process.ts'

const deathTimeoutMs = 5000
const deathPollMs = 1
/** `runsc delete` may be killed or time out on a busy machine, so it is retried. */
const deletesMax = 3

/** Removes the sandbox with this id and its folder. Idempotent. Throws if the sandbox does not die. */
export async function removeSandbox(
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  id: string,
  folder: string,
): Promise<void> {
  const name = runscNameOf(folder, id)
  const runscFolder = runscFolderOf(folder, id)
  const { pid, goferPid } = await readSandboxState(runsc.rootDir, name)
  const sandbox = processOf(pid, name)
  const held = await holdRunscOf(runsc, folder, sandbox?.pid)
  try {
    await end(
      held.runsc,
      mounts,
      name,
      [sandbox, processOf(goferPid, name), replacedGofer(runscFolder)].filter((each) => each != null),
    )
  } finally {
    await held.close()
  }
  // The sandbox's folder goes last, because it names the other one.
  for (const each of [runscFolder, folder]) await rm(each, { recursive: true, force: true })
}

const end = async (
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  id: string,
  processes: readonly HostProcess[],
): Promise<void> => {
  // Kill the processes here, because runsc checks for each of the two deaths only every 100 ms.
  await kill(processes, () => SandboxCgroup.named(mounts, id).thaw())
  for (let deletes = 1; ; deletes++) {
    const deleted = await runsc.run(['delete', '--force', id])
    if (deleted.code === 0 || (await readSandboxState(runsc.rootDir, id)).pid === 0) break
    if (deletes === deletesMax) throw new Error(`runsc delete ${id}: ${deleted.stderr.trim().slice(-500)}`)
  }
}

/** Returns the sandbox's process with this pid, or undefined if the pid now belongs to another process. */
const processOf = (pid: number, id: string): HostProcess | undefined => {
  const process = pid > 0 ? hostProcess(pid) : undefined
  try {
    return process && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(id) ? process : undefined
  } catch {
    return undefined
  }
}

/**
 * Kills the processes and waits for their death. A frozen process dies when it is thawed. It must be signalled first,
 * otherwise it would run for a moment after its disk was captured. `thaw` also thaws what a failed boot left frozen.
 */
const kill = async (processes: readonly HostProcess[], thaw: () => void): Promise<void> => {
  for (const { pid } of processes) ignoreErrors(() => process.kill(pid, 'SIGKILL'))
  ignoreErrors(thaw)
  const begin = performance.now()
  while (processes.some(isAlive)) {
    if (performance.now() - begin > deathTimeoutMs)
      throw new Error(`processes of the sandbox still run ${deathTimeoutMs} ms after SIGKILL`)
    await delay(deathPollMs)
  }
}

/** A dead process takes no signal, and its control group may be gone. */
export function ignoreErrors(act: () => void): void {
  try {
    act()
  } catch {}
}
