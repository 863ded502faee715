/** Limits the total memory of all sandboxes, and frees memory in one of them before the kernel would kill a process. */
import type { Logger } from '@dock/foundation'
import { limitAllSandboxes } from '../cgroup/limit-all-sandboxes.ts'
import type { CgroupMount } from '../cgroup/sandbox-cgroup.ts'
import { memoryGroup } from './memory-group.ts'
import { SharedMemory } from './shared-memory.ts'

/** Throws if the limit cannot be set. */
export function shareMemory(mounts: readonly CgroupMount[], bytes: number, logger: Logger): SharedMemory {
  const { version, folder } = limitAllSandboxes(mounts, bytes)
  return new SharedMemory(memoryGroup(version, folder), bytes, (usedBytes, ends) =>
    logger.warn(
      { usedBytes, limitBytes: bytes },
      ends
        ? 'total memory of all Docks is short: the Dock furthest above its share freed nothing and is ended'
        : 'total memory of all Docks is short: killing processes in the Dock furthest above its share',
    ),
  )
}
