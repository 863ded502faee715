/** Limits the memory of all sandboxes together, and lets one give way before the kernel would choose. */
import type { Logger } from '@dock/foundation'
import { limitAllSandboxes } from './limit-all-sandboxes.ts'
import { memoryGroup } from './memory/memory-group.ts'
import { SharedMemory } from './memory/shared-memory.ts'
import type { CgroupMount } from './sandbox-cgroup.ts'

/** Throws where there is no such limit. */
export function shareMemory(mounts: readonly CgroupMount[], bytes: number, logger: Logger): SharedMemory {
  const { version, folder } = limitAllSandboxes(mounts, bytes)
  return new SharedMemory(memoryGroup(version, folder), bytes, (usedBytes, ends) =>
    logger.warn(
      { usedBytes, limitBytes: bytes },
      ends
        ? 'all Docks together are short of memory: the one furthest beyond its share frees nothing, and ends'
        : 'all Docks together are short of memory: processes end in the one furthest beyond its share',
    ),
  )
}
