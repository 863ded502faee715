/** The images that a pool holds: one folder each, with the disk that Docks are cloned from. */
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Where an image's subvolume stands in the pool. Throws on a name that is no image's name. */
export const imagePath = (poolDir: string, name: string): string => {
  if (!/^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)) throw new Error(`not the name of an image: ${name}`)
  return join(poolDir, 'images', name)
}

/** Names of the images that Docks can be made from, sorted. */
export const listImages = async (poolDir: string): Promise<string[]> => {
  const names: string[] = []
  for (const name of await readdir(join(poolDir, 'images')).catch(() => [])) {
    if (!/^[a-z0-9][a-z0-9.-]{0,63}$/.test(name)) continue
    const whole = await access(join(poolDir, 'images', name, 'disk.raw')).then(
      () => true,
      () => false,
    )
    if (whole) names.push(name)
  }
  return names.sort()
}
