/**
 * Seals secrets before they are stored in the database, and opens them. Every organization, every person and the instance
 * itself has its own data key, created on first use. Destroying the key makes everything sealed with it unreadable forever.
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
   * Returns the sealed form of a text, to be stored at exactly this place. Call it before starting a transaction: it
   * may need another connection.
   */
  seal(owner: KeyOwner, place: Place, plaintext: string): Promise<string>
  /** Returns the text that was sealed for this owner and place. Throws {@link Unreadable}. */
  open(owner: KeyOwner, place: Place, sealed: string): Promise<string>
  /**
   * Destroys the owner's keys. The last step of deleting an organization or erasing a person, in the same transaction.
   */
  destroyKey(owner: KeyOwner, tx?: Db): Promise<void>
  /** Drops the owner's cached keys, so that the next use reads them again. */
  forget(owner: KeyOwner): void
}

export function createSealer(options: {
  db: Db
  clock: Clock
  ring: KeyRing
  /** All columns that may hold sealed values. Rotations skip other columns, so sealing for them is refused. */
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
    if (!made) throw new Error(`the data key of ${ownerName(owner)} was deleted while it was created`)
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
        // Another process may have rotated the key since it was cached here.
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

/** Throws if the ring cannot open the data keys in the database. Called before the instance serves requests. */
export async function checkKeyRing(db: Db, ring: KeyRing): Promise<void> {
  for (const row of await listOneKeyForEachRingKey(db)) ring.unwrap(ownerOf(row), wrappedKey(row))
}
