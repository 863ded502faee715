/**
 * Where durable copies lie: objects by key, small enough to be held in memory. Two stores, a folder and any server that
 * speaks S3; both pass the same suite. Only the control plane holds a store's credentials.
 */

export type StoredObject = { key: string; sizeBytes: number; modifiedAt: Date }

export type ObjectStore = {
  /** What it is, for the log: no credentials in it. */
  readonly description: string
  /** Throws {@link StoreFull} when not even a small object can be written now. */
  requireRoom(): Promise<void>
  /** Writes or replaces the object. On return it is on stable storage. Throws {@link StoreFull}. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** Throws {@link ObjectMissing}. */
  get(key: string): Promise<Buffer>
  /** Absent is fine. */
  delete(key: string): Promise<void>
  /** Every object whose key begins with `prefix`, in no order that could be relied on. */
  list(prefix: string): AsyncIterable<StoredObject>
}

/** There is no room for the object: nothing of it is stored. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull'
}

/** No object stands under the key. */
export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing'
  constructor(key: string) {
    super(`no object ${key}`)
  }
}

const keyPattern = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/

/** Keys are ours alone and plain: a folder store can take them for paths. Throws on any other. */
export function checkedKey(key: string): string {
  if (!keyPattern.test(key) || key.length > 512) throw new Error(`not a key of an object: ${key}`)
  return key
}
