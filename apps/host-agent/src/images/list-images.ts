/** The images that a pool holds: one folder each, with the disk that Docks are cloned from. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '../disks/clone-disk.ts'

const isName = (name: string): boolean => /^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)

/** Where an image's subvolume stands in the pool. Throws on a name that is no image's name. */
export function imagePath(poolDir: string, name: string): string {
  if (!isName(name)) throw new Error(`not the name of an image: ${name}`)
  return join(poolDir, 'images', name)
}

/** Beside the disk of an image that was received: the digest of its version. */
export const versionFile = 'version'

/**
 * The image's version, or null where there is none: the digest of one that was received; of one that was built here,
 * `built:` with its recipe's archive, as `script/install/image` notes it.
 */
export async function imageVersion(poolDir: string, name: string): Promise<string | null> {
  const path = imagePath(poolDir, name)
  const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '')
  if (!(await exists(join(path, 'disk.raw')))) return null
  const received = await read(join(path, versionFile))
  if (received !== '') return received.trim()
  const archive = (await read(join(poolDir, 'images', `.${name}.from`))).trim()
  return `built:${archive}`
}

/** The images that Docks can be made from, by name, each with its version. */
export async function listImages(poolDir: string): Promise<Map<string, string>> {
  const images = new Map<string, string>()
  for (const name of (await readdir(join(poolDir, 'images')).catch(() => [])).filter(isName).sort()) {
    const version = await imageVersion(poolDir, name)
    if (version !== null) images.set(name, version)
  }
  return images
}
