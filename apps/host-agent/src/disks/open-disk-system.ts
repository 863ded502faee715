/** Chooses how this machine's disks are handled. */
import type { Logger } from '@dock/foundation'
import { withDiskSteps } from '../fault-steps.ts'
import { commandDiskSystem } from './command-disk-system.ts'
import type { DiskSystem } from './disk-system.ts'
import { openNativeDiskSystem } from './native-disk-system.ts'

/** System calls where the library loads, commands otherwise (with a warning). */
export async function openDiskSystem(logger: Logger): Promise<DiskSystem> {
  try {
    return withDiskSteps(await openNativeDiskSystem())
  } catch (error) {
    logger.warn({ err: error }, 'system calls are not available; disks are handled by commands, more slowly')
    return withDiskSteps(commandDiskSystem)
  }
}
