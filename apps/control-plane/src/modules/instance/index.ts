/** Public interface of the instance module: public configuration, images, first user and contact form. */

export { type AdminFile, ensureFirstUser, removeAdminFile } from './first-person.ts'
export { type BuiltImage, imageCatalog, listImages } from './images.ts'
export { createInstanceModule, type InstanceContext, type InstanceModule } from './module.ts'
export { readConfig } from './read-config.ts'
export { sendContact } from './send-contact.ts'
