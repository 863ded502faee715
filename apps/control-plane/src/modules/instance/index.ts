/** Public interface of the instance module: public configuration, images, first user and contact form. */

export { type AdminFile, ensureFirstUser, removeAdminFile } from './first-person.ts'
export { imageCatalog } from './images.ts'
export { createInstanceModule } from './module.ts'
