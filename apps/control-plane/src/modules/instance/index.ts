/** Public interface of the instance module: public configuration, images, first user and contact form. */
export { type AdminFile, ensureFirstUser, removeAdminFile } from './first-person.ts'
export { type ImageName, type ImagesContext, imageCatalog, listImages } from './images.ts'
export { type InstanceFacts, readConfig } from './read-config.ts'
export { type ContactContext, sendContact } from './send-contact.ts'
