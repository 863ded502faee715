/** Public face of the versions of images: published from the host that built one, given to the others, kept while needed. */
export { createImageVersions, type ImageVersions } from './image-versions.ts'
