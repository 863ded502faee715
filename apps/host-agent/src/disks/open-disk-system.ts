/** Chooses the disk system of this machine. */
import { type Logger, withFaultSteps } from '@dock/foundation'
import { commandDiskSystem } from './command-disk-system.ts'
import type { DiskSystem } from './disk-system.ts'
import { openNativeDiskSystem } from './native-disk-system.ts'

/** Adds fault points to the system calls on disks. */
const withDiskSteps = (system: DiskSystem): DiskSystem =>
  withFaultSteps(
    system,
    ['snapshot', 'createSubvolume', 'destroySubvolume', 'sync', 'freeze', 'thaw', 'mount', 'unmount'],
    (method) => `disk:${method}`,
  )

/** Uses system calls if the library loads. Otherwise logs a warning and uses commands. */
export async function openDiskSystem(logger: Logger): Promise<DiskSystem> {
  try {
    return withDiskSteps(await openNativeDiskSystem())
  } catch (error) {
    logger.warn({ err: error }, 'cannot load the system-call library; using slower commands for disks')
    return withDiskSteps(commandDiskSystem)
  }
}
