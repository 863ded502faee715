import type { Image } from '@dock/contract'

/** Names of the images that Docks can start from. */
export const imageCatalog = ['ubuntu-24.04', 'debian-13'] as const
export type ImageName = (typeof imageCatalog)[number]

export type ImagesContext = {
  defaultImage: ImageName
  /** Names of the images that at least one online host serves. */
  servedImages(): Promise<readonly string[]>
}

/** Returns the catalog. `available` is true if a Dock can be started from the image now. */
export async function listImages(context: ImagesContext): Promise<Image[]> {
  const served = await context.servedImages()
  return imageCatalog.map((name) => ({
    name,
    isDefault: name === context.defaultImage,
    available: served.includes(name),
  }))
}
