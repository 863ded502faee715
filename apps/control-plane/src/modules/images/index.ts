/** Public interface of image versions: publishing from builders, delivery to other hosts, and cleanup. */
export { createImageVersions, type ImageVersions } from './image-versions.ts'
