export { ObjectMissing, type ObjectStore, type StoredObject } from './object-store.ts'
export { openObjectStore } from './open-object-store.ts'
