/** Chooses the disk system of this machine. */
import type { Logger } from '@dock/foundation'
import { withDiskSteps } from '../fault-points.ts'
import { commandDiskSystem } from './command-disk-system.ts'
import type { DiskSystem } from './disk-system.ts'
import { openNativeDiskSystem } from './native-disk-system.ts'

/** Uses system calls if the library loads. Otherwise logs a warning and uses commands. */
export async function openDiskSystem(logger: Logger): Promise<DiskSystem> {
  try {
    return withDiskSteps(await openNativeDiskSystem())
  } catch (error) {
    logger.warn({ err: error }, 'cannot load the system-call library; using slower commands for disks')
    return withDiskSteps(commandDiskSystem)
  }
}
