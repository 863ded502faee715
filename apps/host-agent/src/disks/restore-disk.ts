/** Makes a read-only subvolume with a disk from a durable copy. */
import { join } from 'node:path'
import { exists, partialPrefix } from './clone-disk.ts'
import type { DiskSystem } from './disk-system.ts'
import { type FillDisk, writeNewDisk } from './write-new-disk.ts'

/** On return `folder/name` is on stable storage. If `fill` throws or the machine crashes, it is absent. */
export async function restoreDisk(
  system: DiskSystem,
  folder: string,
  name: string,
  bytes: number,
  fill: FillDisk,
  demandRoom: () => void,
): Promise<void> {
  const half = join(folder, `${partialPrefix}${name}`)
  if (await exists(half)) await system.destroySubvolume(half)
  await system.createSubvolume(half)
  try {
    await writeNewDisk(join(half, 'disk.raw'), bytes, fill, demandRoom, true)
    await system.snapshot(half, join(folder, name), true)
  } finally {
    await system.destroySubvolume(half)
  }
}
