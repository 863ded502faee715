import type { Image } from '@dock/contract'

/** Names of the images that come with Dock. An operator's own images join them once a builder has built them. */
export const imageCatalog = [
  'ubuntu-24.04',
  'debian-13',
  'ubuntu-24.04-dev',
  'debian-13-dev',
  'debian-13-agents',
] as const

/** An image that a builder has built, or that was published earlier. */
export type BuiltImage = { name: string; version: string; available: boolean }

export type ImagesContext = {
  defaultImage: string
  listBuilt(): Promise<readonly BuiltImage[]>
}

/** Returns the images that come with Dock, then the operator's own. */
export async function listImages(context: ImagesContext): Promise<Image[]> {
  const built = new Map((await context.listBuilt()).map((image) => [image.name, image]))
  const names = new Set<string>([...imageCatalog, ...[...built.keys()].toSorted()])
  return [...names].map((name) => ({
    name,
    isDefault: name === context.defaultImage,
    available: built.get(name)?.available ?? false,
    version: built.get(name)?.version ?? null,
  }))
}
