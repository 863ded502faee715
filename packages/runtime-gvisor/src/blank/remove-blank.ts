/**
 * Removes a blank sandbox in any state. A crash can leave every part of one behind: a call of runsc that goes on,
 * processes that are frozen and that no state names, files of runsc, a control group. All of them contain the name.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type CgroupMount, SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { ignoreErrors, removeSandbox } from '../sandbox/remove-sandbox.ts'
import { processesWithArgument } from '../system/host-process.ts'

const endTimeoutMs = 5_000
const pollMs = 5

/** Idempotent. Throws if a process does not end. */
export async function removeBlank(
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  name: string,
  folder: string,
): Promise<void> {
  const group = SandboxCgroup.named(mounts, name)
  await endProcesses(name, group)
  // runsc cannot delete what it did not finish to create. What it leaves is removed below.
  await removeSandbox(runsc, mounts, name, folder).catch(() => undefined)
  await endProcesses(name, group)
  const files = await readdir(runsc.rootDir).catch(() => [])
  for (const file of files.filter((each) => each.startsWith(`${name}_`)))
    await rm(join(runsc.rootDir, file), { force: true })
  await group.remove(endTimeoutMs)
  await rm(folder, { recursive: true, force: true })
}

/** Repeats: a process that is about to start another one dies only with the next turn. */
const endProcesses = async (name: string, group: SandboxCgroup): Promise<void> => {
  const deadline = performance.now() + endTimeoutMs
  for (;;) {
    const found = processesWithArgument(name)
    for (const { pid } of found) ignoreErrors(() => process.kill(pid, 'SIGKILL'))
    // A frozen process dies only when it is thawed.
    ignoreErrors(() => group.thaw())
    if (found.length === 0) return
    if (performance.now() > deadline)
      throw new Error(`processes of ${name} still run ${endTimeoutMs} ms after SIGKILL`)
    await delay(pollMs)
  }
}
