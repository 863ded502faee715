/**
 * Makes a Dock's disk from an image or a capture. A size that is not the image's own is made once and kept as a
 * variant of the image, so that the next Dock of that size is a plain clone.
 */
import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskBytesOf } from '@dock/host-protocol'
import type { DiskSystem } from './disk-system.ts'
import { resizeDisk } from './resize-disk.ts'

/** Subvolumes that are being made have this prefix until they are whole. */
export const halfMade = '.new-'

export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Clones subvolume `source` as `folder/name` with a disk of `bytes`; absent or whole after a crash. */
export async function cloneDisk(
  system: DiskSystem,
  source: string,
  folder: string,
  name: string,
  bytes: number,
): Promise<void> {
  const { size } = await stat(join(source, 'disk.raw'))
  if (size === bytes) return await system.snapshot(source, join(folder, name), false)
  const half = join(folder, `${halfMade}${name}`)
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

/** The image's subvolume itself, or its variant of `diskGiB`, made when it is missing. */
export async function sizedImage(
  system: DiskSystem,
  poolDir: string,
  image: string,
  imageName: string,
  diskGiB: number,
): Promise<string> {
  const { size, mtimeMs } = await stat(join(image, 'disk.raw'))
  if (size === diskBytesOf(diskGiB)) return image
  // With the time of the image in its name, a variant never outlives a rebuilt image.
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
