/**
 * The store of durable copies: objects by key, small enough to fit in memory. There are two implementations, a folder
 * and S3, which pass the same test suite. Only the control plane has the store's credentials.
 */

export type StoredObject = { key: string; sizeBytes: number; modifiedAt: Date }

export type ObjectStore = {
  /** Describes the store for the log, without credentials. */
  readonly description: string
  /** Throws {@link StoreFull} if not even a small object can be written now. */
  requireRoom(): Promise<void>
  /** Writes or replaces an object. It is durable when this resolves. Throws {@link StoreFull}. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Returns an object's bytes. Throws {@link ObjectMissing}. */
  get(key: string): Promise<Buffer>
  /** Deletes an object. Does nothing if it does not exist. */
  delete(key: string): Promise<void>
  /** Lists all objects whose key begins with `prefix`, in no particular order. */
  list(prefix: string): AsyncIterable<StoredObject>
}

/** The store has no room for the object. No part of it was stored. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull'
}

/** No object has this key. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing'
  constructor(key: string) {
    super(`object ${key} does not exist`)
  }
}

const keyPattern = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/

/** Returns the key if it is valid, and throws otherwise. Valid keys are safe to use as file paths. */
export function checkedKey(key: string): string {
  if (!keyPattern.test(key) || key.length > 512) throw new Error(`invalid object key: ${key}`)
  return key
}
