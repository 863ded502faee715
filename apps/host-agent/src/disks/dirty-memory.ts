/**
 * Bounds what is written but not yet on the disk, in all and for one Dock: what is left of it when the pool runs full has
 * to fit into the reserve, and one Dock's writes must not make the others wait.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@dock/foundation'

const mebibyte = 2 ** 20
const dirtyBytesMax = 256 * mebibyte
/** Little, since a capture waits for what is not written yet. */
const dirtyBackgroundBytes = 4 * mebibyte
const deviceDirtyBytesMax = 64 * mebibyte
const deviceDirtyPercentMax = (100 * deviceDirtyBytesMax) / dirtyBytesMax

/** For the whole machine. A bound that is stricter already, an operator's, is left as it is. */
export async function limitDirtyMemory(logger: Logger, machine = '/proc/sys/vm'): Promise<void> {
  const tighten = async (setting: string, bytes: number) => {
    const present = Number(await readFile(join(machine, setting), 'utf8'))
    // Zero says that a share of the machine's memory is the bound instead.
    if (present === 0 || present > bytes) await writeFile(join(machine, setting), `${bytes}`)
  }
  try {
    await tighten('dirty_background_bytes', dirtyBackgroundBytes)
    await tighten('dirty_bytes', dirtyBytesMax)
  } catch (error) {
    logger.warn({ err: error }, 'dirty memory could not be bounded')
  }
}

/** For one Dock's device, by its kernel name. */
export async function limitDeviceDirtyMemory(
  device: string,
  logger: Logger,
  devices = '/sys/block',
): Promise<void> {
  const set = (setting: string, value: number) =>
    writeFile(join(devices, device, 'bdi', setting), `${value}`, { flag: 'r+' })
  try {
    // Before Linux 6.2 there is only a share, in percent of what the machine may, and nothing makes it strict.
    await set('max_bytes', deviceDirtyBytesMax).catch(() => set('max_ratio', deviceDirtyPercentMax))
    await set('strict_limit', 1)
  } catch (error) {
    logger.debug({ err: error, device }, 'this kernel has no strict dirty limit for one device')
  }
}
