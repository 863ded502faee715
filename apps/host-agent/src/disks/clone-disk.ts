/**
 * Makes a Dock's disk from an image or a capture. If the size differs from the image's, a resized variant of the image is
 * made once and kept, so that the next Dock of that size only needs a clone.
 */
import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskBytesOf } from '@dock/host-protocol'
import type { DiskSystem } from './disk-system.ts'
import { resizeDisk } from './resize-disk.ts'

/** Name prefix of incomplete subvolumes. They are renamed when complete, and removed at the agent's start. */
export const partialPrefix = '.new-'

export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Clones subvolume `source` as `folder/name` with a disk of `bytes`. After a crash the clone is complete or absent. */
export async function cloneDisk(
  system: DiskSystem,
  source: string,
  folder: string,
  name: string,
  bytes: number,
): Promise<void> {
  const { size } = await stat(join(source, 'disk.raw'))
  if (size === bytes) return await system.snapshot(source, join(folder, name), false)
  const half = join(folder, `${partialPrefix}${name}`)
  if (await exists(half)) await system.destroySubvolume(half)
  await system.snapshot(source, half, false)
  try {
    await resizeDisk(join(half, 'disk.raw'), bytes)
    await rename(half, join(folder, name))
  } catch (error) {
    await system.destroySubvolume(half)
    throw error
  }
}

/** Returns the image's subvolume, or its variant of `diskGiB`. Makes the variant if it is missing. */
export async function sizedImage(
  system: DiskSystem,
  poolDir: string,
  image: string,
  imageName: string,
  diskGiB: number,
): Promise<string> {
  const { size, mtimeMs } = await stat(join(image, 'disk.raw'))
  if (size === diskBytesOf(diskGiB)) return image
  // The name contains the image's modification time, so that a rebuilt image gets new variants.
  const name = `${imageName}@${diskGiB}-${Math.floor(mtimeMs)}`
  const folder = join(poolDir, 'variants')
  await mkdir(folder, { recursive: true })
  if (await exists(join(folder, name))) return join(folder, name)
  for (const old of await readdir(folder)) {
    if (old.startsWith(`${imageName}@${diskGiB}-`)) await system.destroySubvolume(join(folder, old))
  }
  await cloneDisk(system, image, folder, name, diskBytesOf(diskGiB))
  return join(folder, name)
}
