/** Removes control groups whose processes have ended. */
import { rmdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const pollMs = 5

/** Removes the folders of a control group, one per hierarchy. Throws if one is still busy after `timeoutMs`. Idempotent. */
export async function removeControlGroups(folders: Iterable<string>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  // A group is busy for a moment after its last process.
  for (const folder of folders) while (!tryToRemove(folder, deadline)) await delay(pollMs)
}

/** Returns false if the group is busy. */
const tryToRemove = (folder: string, deadline: number): boolean => {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return true
    if (code === 'EBUSY' && performance.now() < deadline) return false
    throw error
  }
}
