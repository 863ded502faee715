/** Receives a published version of an image. It replaces the former version once it is complete and verified. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, partialPrefix } from '../clone-disk.ts'
import type { DiskSystem } from '../disk-system.ts'
import { type FillDisk, writeNewDisk } from '../write-new-disk.ts'
import { imagePath, imageVersion, versionFile } from './list-images.ts'

export type ArrivingImage = {
  digest: string
  diskBytes: number
  /** Writes to the sparse disk. Throws if the received content does not match the digest. */
  fill: FillDisk
}

/** Does nothing if the image already has this version. Docks made from the former version keep their disks. */
export async function receiveImage(
  system: DiskSystem,
  poolDir: string,
  name: string,
  { digest, diskBytes, fill }: ArrivingImage,
  demandRoom: () => void,
): Promise<void> {
  const image = imagePath(poolDir, name)
  if ((await imageVersion(poolDir, name)) === digest) return
  const folder = join(poolDir, 'images')
  const [arriving, former] = [
    join(folder, `${partialPrefix}${name}`),
    join(folder, `${partialPrefix}former-${name}`),
  ]
  const drop = async (path: string): Promise<void> => {
    if (await exists(path)) await system.destroySubvolume(path)
  }
  await drop(arriving)
  await system.createSubvolume(arriving)
  try {
    await writeNewDisk(join(arriving, 'disk.raw'), diskBytes, fill, demandRoom, false)
    await writeFile(join(arriving, versionFile), digest)
    await system.sync(folder)
    await drop(former)
    if (await exists(image)) await rename(image, former)
    await rename(arriving, image)
    await system.sync(folder)
    await drop(former)
  } finally {
    await drop(arriving)
  }
}
