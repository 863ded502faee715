/** Public interface of image versions: publishing from builders, delivery to other hosts, and cleanup. */
export { createImagesModule, type ImagesModule } from './create-images-module.ts'
export { listBuildersOf, listBuiltImages, removeVersions } from './image-store.ts'
