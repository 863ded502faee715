/**
 * Seals secrets before they reach the database, and opens them again. Every organization and every person has a data key
 * of its own, made on first use; destroying it makes all that was sealed with it unreadable for good.
 */
import type { Clock } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import {
  deleteDataKeys,
  insertDataKey,
  listDataKeys,
  listOneKeyForEachRingKey,
  ownerOf,
  wrappedKey,
} from './data-key-store.ts'
import { createKeyCache, type OwnerKeys } from './key-cache.ts'
import type { KeyRing } from './key-ring.ts'
import { type KeyOwner, ownerName, type Place, type SealedColumn } from './sealed-place.ts'
import { type DataKey, kidOf, openValue, sealValue, Unreadable } from './sealed-value.ts'

export type Sealer = {
  /**
   * The sealed form of a text, to be stored at exactly this place. Call it before a transaction is begun: it may need
   * a connection of its own.
   */
  seal(owner: KeyOwner, place: Place, plaintext: string): Promise<string>
  /** The text that was sealed for this owner and place. Throws {@link Unreadable}. */
  open(owner: KeyOwner, place: Place, sealed: string): Promise<string>
  /** Destroys the owner's keys: the last step of deleting an organization or erasing a person, in its transaction. */
  destroyKey(owner: KeyOwner, tx?: Db): Promise<void>
  /** Reads the owner's keys anew at the next use. */
  forget(owner: KeyOwner): void
}

export function createSealer(options: {
  db: Db
  clock: Clock
  ring: KeyRing
  /** Every column that may hold a sealed value: one that a rotation does not know would become unreadable. */
  columns: readonly SealedColumn[]
}): Sealer {
  const { db, clock, ring } = options
  const declared = new Set(
    options.columns.map(({ table, column, ownerKind }) => `${ownerKind} ${table}.${column}`),
  )

  const cache = createKeyCache(clock, async (owner): Promise<OwnerKeys> => {
    const rows = await listDataKeys(db, owner)
    const byKid = new Map(rows.map((row) => [row.id, ring.unwrap(owner, wrappedKey(row))]))
    const current = rows.find((row) => row.retired_at === null)
    return { current: current && byKid.get(current.id), byKid }
  })

  const currentKey = async (owner: KeyOwner): Promise<DataKey> => {
    const { current } = await cache.get(owner)
    if (current) return current
    await insertDataKey(db, ring, owner, clock.now())
    cache.forget(owner)
    const made = (await cache.get(owner)).current
    if (!made) throw new Error(`the data key of ${ownerName(owner)} vanished while it was made`)
    return made
  }

  return {
    seal: async (owner, place, plaintext) => {
      if (!declared.has(`${owner.kind} ${place.table}.${place.column}`))
        throw new Error(
          `${place.table}.${place.column} is not declared as a sealed column of a ${owner.kind}`,
        )
      return sealValue(await currentKey(owner), owner, place, plaintext)
    },
    open: async (owner, place, sealed) => {
      const kid = kidOf(sealed)
      let key = (await cache.get(owner)).byKid.get(kid)
      if (!key) {
        // Another process may have rotated the key since it was read here.
        cache.forget(owner)
        key = (await cache.get(owner)).byKid.get(kid)
      }
      if (!key) throw new Unreadable(`the data key ${kid} of ${ownerName(owner)} is gone`)
      return openValue(key, owner, place, sealed)
    },
    destroyKey: async (owner, tx = db) => {
      await deleteDataKeys(tx, owner)
      cache.forget(owner)
    },
    forget: cache.forget,
  }
}

/** Throws, before anything is served, when the ring cannot open the data keys that the database holds. */
export async function checkKeyRing(db: Db, ring: KeyRing): Promise<void> {
  for (const row of await listOneKeyForEachRingKey(db)) ring.unwrap(ownerOf(row), wrappedKey(row))
}
