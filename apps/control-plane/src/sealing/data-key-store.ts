/** All SQL for data keys. */
import { createSecretKey, randomBytes } from 'node:crypto'
import { randomBase32 } from '@dock/foundation'
import { columnsOf } from '../database/columns.ts'
import type { Db, Row } from '../database/database.ts'
import type { KeyRing, WrappedKey } from './key-ring.ts'
import type { KeyOwner } from './sealed-place.ts'
import type { DataKey } from './sealed-value.ts'

export type DataKeyRow = Row<'data_keys'>
const columns = columnsOf('data_keys')

const kidLength = 16
const keyBytes = 32

export function wrappedKey(row: DataKeyRow): WrappedKey {
  return {
    kid: row.id,
    ringKeyId: row.ring_key_id,
    wrapped: row.wrapped,
  }
}

export function ownerOf(row: DataKeyRow): KeyOwner {
  return { kind: row.owner_kind, id: row.owner_id }
}

/** Lists all data keys of an owner, the current key first. */
export function listDataKeys(db: Db, owner: KeyOwner): Promise<DataKeyRow[]> {
  return db
    .selectFrom('data_keys')
    .select(columns)
    .where('owner_kind', '=', owner.kind)
    .where('owner_id', '=', owner.id)
    .orderBy('retired_at', (order) => order.desc().nullsFirst())
    .execute()
}

/** Creates the owner's current key unless it exists. Of several concurrent calls, one creates it. */
export async function insertDataKey(db: Db, ring: KeyRing, owner: KeyOwner, now: Date): Promise<void> {
  const dataKey: DataKey = { kid: randomBase32(kidLength), key: createSecretKey(randomBytes(keyBytes)) }
  const { kid, ringKeyId, wrapped } = ring.wrap(owner, dataKey)
  await db
    .insertInto('data_keys')
    .values({
      id: kid,
      owner_kind: owner.kind,
      owner_id: owner.id,
      ring_key_id: ringKeyId,
      wrapped,
      retired_at: null,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['owner_kind', 'owner_id']).where('retired_at', 'is', null).doNothing(),
    )
    .execute()
}

/** Retires the owner's current key: it still opens sealed values, but seals no new ones. */
export async function retireDataKey(db: Db, owner: KeyOwner, now: Date): Promise<void> {
  await db
    .updateTable('data_keys')
    .set({ retired_at: now })
    .where('owner_kind', '=', owner.kind)
    .where('owner_id', '=', owner.id)
    .where('retired_at', 'is', null)
    .execute()
}

/** Lists up to `limit` data keys that are not wrapped with the ring key `ringKeyId`. */
export function listKeysToRewrap(db: Db, ringKeyId: string, limit: number): Promise<DataKeyRow[]> {
  return db
    .selectFrom('data_keys')
    .select(columns)
    .where('ring_key_id', '!=', ringKeyId)
    .limit(limit)
    .execute()
}

/** Lists one data key for each ring key that wraps any. */
export function listOneKeyForEachRingKey(db: Db): Promise<DataKeyRow[]> {
  return db.selectFrom('data_keys').distinctOn('ring_key_id').select(columns).execute()
}

/** Replaces the wrapped form of a data key, unless another process has already done so. */
export async function replaceWrapping(db: Db, before: DataKeyRow, after: WrappedKey): Promise<void> {
  await db
    .updateTable('data_keys')
    .set({ ring_key_id: after.ringKeyId, wrapped: after.wrapped })
    .where('id', '=', before.id)
    .where('ring_key_id', '=', before.ring_key_id)
    .execute()
}

const owners = (db: Db) =>
  db.selectFrom('data_keys').select(['owner_kind as kind', 'owner_id as id']).distinct()

/** Lists all owners of data keys. */
export function listOwners(db: Db): Promise<KeyOwner[]> {
  return owners(db).execute()
}

/** Lists all owners that still have a retired data key. */
export function listOwnersOfRetiredKeys(db: Db): Promise<KeyOwner[]> {
  return owners(db).where('retired_at', 'is not', null).execute()
}

export async function deleteDataKey(db: Db, kid: string): Promise<void> {
  await db.deleteFrom('data_keys').where('id', '=', kid).execute()
}

export async function deleteDataKeys(db: Db, owner: KeyOwner): Promise<void> {
  await db
    .deleteFrom('data_keys')
    .where('owner_kind', '=', owner.kind)
    .where('owner_id', '=', owner.id)
    .execute()
}
