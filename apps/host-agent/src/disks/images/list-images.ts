/** The images in a pool: one folder for each, with the disk that Docks are cloned from. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '../clone-disk.ts'

const isName = (name: string): boolean => /^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)

/** Returns the path of an image's subvolume. Throws if `name` is not a valid image name. */
export function imagePath(poolDir: string, name: string): string {
  if (!isName(name)) throw new Error(`not a valid image name: ${name}`)
  return join(poolDir, 'images', name)
}

/**
 * File beside an image's disk. It contains the image's version, and is cloned together with the disk, so it also says
 * from which version a Dock's disk was made.
 */
export const versionFile = 'version'

/**
 * Returns the image's version, or null if there is no such image. A received image has its digest as version. An image that
 * was built on this host has `built:` and the name of its archive, as `script/install/image` records it.
 */
export async function imageVersion(poolDir: string, name: string): Promise<string | null> {
  const path = imagePath(poolDir, name)
  if (!(await exists(join(path, 'disk.raw')))) return null
  const recorded = await readVersionFile(path)
  if (recorded !== '') return recorded
  // Older releases recorded the version of a build only beside the image.
  const archive = (await readFile(join(poolDir, 'images', `.${name}.from`), 'utf8').catch(() => '')).trim()
  return `built:${archive}`
}

/** Returns the version recorded in the subvolume of an image or of a disk made from one, or '' if none is recorded. */
export async function readVersionFile(subvolume: string): Promise<string> {
  return (await readFile(join(subvolume, versionFile), 'utf8').catch(() => '')).trim()
}

/** Returns the images that Docks can be made from: name to version. */
export async function listImages(poolDir: string): Promise<Map<string, string>> {
  const images = new Map<string, string>()
  for (const name of (await readdir(join(poolDir, 'images')).catch(() => [])).filter(isName).sort()) {
    const version = await imageVersion(poolDir, name)
    if (version !== null) images.set(name, version)
  }
  return images
}
