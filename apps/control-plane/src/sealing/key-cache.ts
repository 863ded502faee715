/** Caches data keys: for a limited time, so that destroyed keys are forgotten, and for a limited number of owners. */
import type { Clock } from '@dock/foundation'
import { type KeyOwner, ownerName } from './sealed-place.ts'
import type { DataKey } from './sealed-value.ts'

/** The data keys of an owner. `current` seals, and is undefined until first use; all keys open. */
export type OwnerKeys = { current: DataKey | undefined; byKid: ReadonlyMap<string, DataKey> }

/** How long a process may use the keys that it has read. */
export const keyCacheMs = 300_000
const ownersMax = 1_000

export type KeyCache = {
  /** Returns the owner's keys. Concurrent calls share one read. */
  get(owner: KeyOwner): Promise<OwnerKeys>
  forget(owner: KeyOwner): void
}

export function createKeyCache(clock: Clock, load: (owner: KeyOwner) => Promise<OwnerKeys>): KeyCache {
  // In the order of reading, so the first entry is the oldest.
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
