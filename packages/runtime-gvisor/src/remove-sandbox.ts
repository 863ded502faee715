/** Ends a sandbox and removes all that was made for it, whatever state it is in. */
import { rm } from 'node:fs/promises'
import { hostProcess, isAlive, untilDead } from './host-process.ts'
import type { Runsc } from './runsc.ts'
import { type CgroupMount, SandboxCgroup } from './sandbox-cgroup.ts'
import { readSandboxState } from './sandbox-state.ts'

const deathTimeoutMs = 5000
const removalPollMs = 5

/** Removes the sandbox of this id and its folder. Repeating it is harmless. */
export const removeSandbox = async (
  runsc: Runsc,
  mounts: readonly CgroupMount[],
  id: string,
  folder: string,
): Promise<void> => {
  const { pid } = await readSandboxState(runsc.rootDir, id)
  const sandbox = pid > 0 ? hostProcess(pid) : undefined
  if (sandbox) thaw(mounts, pid, id)
  const deleted = await runsc.run(['delete', '--force', id])
  if (sandbox) {
    const late = setTimeout(() => {
      if (isAlive(sandbox)) process.kill(sandbox.pid, 'SIGKILL')
    }, deathTimeoutMs)
    await untilDead(sandbox, removalPollMs)
    clearTimeout(late)
  }
  if (deleted.code !== 0 && (await readSandboxState(runsc.rootDir, id)).pid > 0) {
    throw new Error(`runsc delete ${id}: ${deleted.stderr.trim().slice(-500)}`)
  }
  await rm(folder, { recursive: true, force: true })
}

/** A frozen process takes no signal, not even the last one. */
const thaw = (mounts: readonly CgroupMount[], pid: number, id: string): void => {
  try {
    SandboxCgroup.ofProcess(mounts, pid, id).thaw()
  } catch {
    // It is dead already, or was never in a group of its own and cannot be frozen.
  }
}
