import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, partialPrefix } from '../clone-disk.ts'
import type { DiskSystem } from '../disk-system.ts'
import { imagePath, imageVersion } from './list-images.ts'

/** Removes an image and its resized copies if it has this version. A crash in between leaves what the next start removes. */
export async function removeImage(
  system: DiskSystem,
  poolDir: string,
  name: string,
  version: string,
): Promise<void> {
  if ((await imageVersion(poolDir, name)) !== version) return
  const leaving = join(poolDir, 'images', `${partialPrefix}former-${name}`)
  if (await exists(leaving)) await system.destroySubvolume(leaving)
  await rename(imagePath(poolDir, name), leaving)
  await system.sync(join(poolDir, 'images'))
  await system.destroySubvolume(leaving)
  const variants = join(poolDir, 'variants')
  for (const each of await readdir(variants))
    if (each.startsWith(`${name}@`)) await system.destroySubvolume(join(variants, each))
}
