/**
 * Limits dirty memory (written, but not yet on disk), for the machine and for each Dock. When the pool runs full, the rest
 * of the dirty data must fit into the reserve. One Dock's writes must not make others wait.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@dock/foundation'

const mebibyte = 2 ** 20
const dirtyBytesMax = 256 * mebibyte
/** Small, because a capture waits for dirty data to be written. */
const dirtyBackgroundBytes = 4 * mebibyte
const deviceDirtyBytesMax = 64 * mebibyte
const deviceDirtyPercentMax = (100 * deviceDirtyBytesMax) / dirtyBytesMax

/** Sets the limits of the machine. Stricter limits, for example of an operator, are kept. */
export async function limitDirtyMemory(logger: Logger, machine = '/proc/sys/vm'): Promise<void> {
  const tighten = async (setting: string, bytes: number) => {
    const present = Number(await readFile(join(machine, setting), 'utf8'))
    // Zero means that the limit is a share of the machine's memory instead.
    if (present === 0 || present > bytes) await writeFile(join(machine, setting), `${bytes}`)
  }
  try {
    await tighten('dirty_background_bytes', dirtyBackgroundBytes)
    await tighten('dirty_bytes', dirtyBytesMax)
  } catch (error) {
    logger.warn({ err: error }, 'could not limit dirty memory')
  }
}

/** Sets the limits of one Dock's device, given by its kernel name. */
export async function limitDeviceDirtyMemory(
  device: string,
  logger: Logger,
  devices = '/sys/block',
): Promise<void> {
  const set = (setting: string, value: number) =>
    writeFile(join(devices, device, 'bdi', setting), `${value}`, { flag: 'r+' })
  try {
    // Before Linux 6.2 only a percentage of the machine's limit can be set, and no setting makes it strict.
    await set('max_bytes', deviceDirtyBytesMax).catch(() => set('max_ratio', deviceDirtyPercentMax))
    await set('strict_limit', 1)
  } catch (error) {
    logger.debug({ err: error, device }, 'this kernel has no strict dirty limit for a single device')
  }
}
