/** Data keys in memory: for a bounded time, so that a destroyed key is forgotten, and a bounded number of owners. */
import type { Clock } from '@dock/foundation'
import { type KeyOwner, ownerName } from './sealed-place.ts'
import type { DataKey } from './sealed-value.ts'

/** The keys of one owner: the one that seals, if it was made yet, and all that open. */
export type OwnerKeys = { current: DataKey | undefined; byKid: ReadonlyMap<string, DataKey> }

/** How long a process may go on with the keys that it has read. */
export const keyCacheMs = 300_000
const ownersMax = 1_000

export type KeyCache = {
  /** The owner's keys; several who ask at once share one read. */
  get(owner: KeyOwner): Promise<OwnerKeys>
  forget(owner: KeyOwner): void
}

export function createKeyCache(clock: Clock, load: (owner: KeyOwner) => Promise<OwnerKeys>): KeyCache {
  // In order of reading, so the first entry is the oldest.
  const entries = new Map<string, { keys: Promise<OwnerKeys>; readAt: number }>()
  return {
    get: (owner) => {
      const name = ownerName(owner)
      const now = clock.now().getTime()
      const cached = entries.get(name)
      if (cached && now - cached.readAt < keyCacheMs) return cached.keys
      const entry = { keys: load(owner), readAt: now }
      entries.delete(name)
      entries.set(name, entry)
      for (const [oldest, { readAt }] of entries) {
        if (entries.size <= ownersMax && now - readAt < keyCacheMs) break
        entries.delete(oldest)
      }
      entry.keys.catch(() => {
        if (entries.get(name) === entry) entries.delete(name)
      })
      return entry.keys
    },
    forget: (owner) => {
      entries.delete(ownerName(owner))
    },
  }
}
