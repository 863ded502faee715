/** Makes a read-only subvolume with a disk that is written from a durable copy. */
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { faultPoint, runCommand } from '@dock/foundation'
import { exists, halfMade } from './clone-disk.ts'
import type { DiskSystem } from './disk-system.ts'

/** On return `folder/name` is on stable storage; it is absent when `fill` threw or the machine went down before. */
export const restoreDisk = async (
  system: DiskSystem,
  folder: string,
  name: string,
  bytes: number,
  fill: (disk: FileHandle) => Promise<unknown>,
): Promise<void> => {
  const half = join(folder, `${halfMade}${name}`)
  if (await exists(half)) await system.destroySubvolume(half)
  await system.createSubvolume(half)
  try {
    const path = join(half, 'disk.raw')
    const disk = await open(path, 'wx', 0o644)
    try {
      // Only an empty file can be taken out of copy-on-write.
      await runCommand('chattr', ['+C', path])
      await disk.truncate(bytes)
      await fill(disk)
      faultPoint('disk:restore-sync')
      await disk.sync()
    } finally {
      await disk.close()
    }
    await system.snapshot(half, join(folder, name), true)
  } finally {
    await system.destroySubvolume(half)
  }
}
