/** Public face of the object store. */
export { ObjectMissing, type ObjectStore, type StoredObject, StoreFull } from './object-store.ts'
export { openObjectStore } from './open-object-store.ts'
