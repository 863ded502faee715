/**
 * Rotates ring keys and data keys. Every secret stays readable after each statement, so a killed rotation can simply be
 * started again: a value is replaced by a resealed form, and a key is deleted only when nothing needs it.
 */
import { type Clock, faultPoint } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../database/database.ts'
import {
  deleteDataKey,
  insertDataKey,
  listDataKeys,
  listKeysToRewrap,
  listOwners,
  listOwnersOfRetiredKeys,
  ownerOf,
  replaceWrapping,
  retireDataKey,
  wrappedKey,
} from './data-key-store.ts'
import { keyCacheMs } from './key-cache.ts'
import type { KeyRing } from './key-ring.ts'
import type { KeyOwner, SealedColumn } from './sealed-place.ts'
import { prefixOf } from './sealed-value.ts'
import type { Sealer } from './sealer.ts'

const batch = 100

/** Runs a committed change between two fault points, where tests kill the process. */
const withFaultPoints = async (name: string, change: () => Promise<unknown>): Promise<void> => {
  faultPoint(`rotate:${name}:before`)
  await change()
  faultPoint(`rotate:${name}:after`)
}

/**
 * How long a retired key is kept: as long as a process may still seal with a cached key, plus an hour for transactions
 * that started by then.
 */
const retiredKeptMs = keyCacheMs + 3_600_000

export type RotationContext = {
  db: Db
  clock: Clock
  ring: KeyRing
  sealer: Sealer
  columns: readonly SealedColumn[]
}

/**
 * Wraps every data key with the ring's first key. Returns their number. Afterwards the other ring keys can be removed.
 */
export async function rewrapDataKeys(context: Pick<RotationContext, 'db' | 'ring'>): Promise<number> {
  const { db, ring } = context
  let done = 0
  for (;;) {
    const rows = await listKeysToRewrap(db, ring.first, batch)
    if (rows.length === 0) return done
    for (const row of rows) {
      const owner = ownerOf(row)
      const wrapped = ring.wrap(owner, ring.unwrap(owner, wrappedKey(row)))
      await withFaultPoints('wrap', () => replaceWrapping(db, row, wrapped))
      done++
    }
  }
}

type SealedRow = { id: string; sealed: string }

/** Lists rows of one column whose value is sealed with this key of the owner. */
const rowsSealedWith = async (
  db: Db,
  column: SealedColumn,
  owner: KeyOwner,
  kid: string,
  limit: number,
): Promise<SealedRow[]> => {
  const result = await sql<SealedRow>`
    select ${sql.ref(column.rowIdColumn)}::text as id, ${sql.ref(column.column)} as sealed
    from ${sql.table(column.table)}
    where ${sql.ref(column.ownerColumn)} = ${owner.id}
      and starts_with(${sql.ref(column.column)}, ${prefixOf(kid)}) limit ${limit}`.execute(db)
  return result.rows
}

/** Reseals the rows of one column with the current key. A row that was changed concurrently is read again. */
const resealColumn = async (
  context: RotationContext,
  column: SealedColumn,
  owner: KeyOwner,
  kid: string,
): Promise<number> => {
  let done = 0
  for (;;) {
    const rows = await rowsSealedWith(context.db, column, owner, kid, batch)
    if (rows.length === 0) return done
    for (const { id, sealed } of rows) {
      const place = { table: column.table, column: column.column, rowId: id }
      const plaintext = await context.sealer.open(owner, place, sealed)
      const resealed = await context.sealer.seal(owner, place, plaintext)
      const replace = sql`update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${resealed}
        where ${sql.ref(column.rowIdColumn)}::text = ${id} and ${sql.ref(column.ownerColumn)} = ${owner.id}
          and ${sql.ref(column.column)} = ${sealed}`
      await withFaultPoints('secret', () => replace.execute(context.db))
      done++
    }
  }
}

/** Reseals the values of retired keys, then deletes the retired keys that no process can still seal with. */
const resealRetired = async (context: RotationContext, owner: KeyOwner): Promise<number> => {
  const { db, clock } = context
  const columns = context.columns.filter((column) => column.ownerKind === owner.kind)
  let resealed = 0
  for (const { id: kid, retired_at } of await listDataKeys(db, owner)) {
    if (retired_at === null) continue
    // Decided before the rows are read, so that they include every value sealed with an old key.
    const old = clock.now().getTime() - retired_at.getTime() > retiredKeptMs
    for (const column of columns) resealed += await resealColumn(context, column, owner, kid)
    if (old) await withFaultPoints('delete', () => deleteDataKey(db, kid))
  }
  context.sealer.forget(owner)
  return resealed
}

/** Gives an owner a new data key and reseals the owner's values with it. Returns the number of resealed values. */
export async function rotateDataKey(context: RotationContext, owner: KeyOwner): Promise<number> {
  const { db, clock, ring, sealer } = context
  await withFaultPoints('key', () =>
    withTransaction(db, async (tx) => {
      await retireDataKey(tx, owner, clock.now())
      faultPoint('rotate:key:between')
      await insertDataKey(tx, ring, owner, clock.now())
    }),
  )
  sealer.forget(owner)
  return resealRetired(context, owner)
}

/** Rotates the data key of every owner. */
export async function rotateDataKeys(
  context: RotationContext,
): Promise<{ owners: number; resealed: number }> {
  const done = { owners: 0, resealed: 0 }
  for (const owner of await listOwners(context.db)) {
    done.resealed += await rotateDataKey(context, owner)
    done.owners++
  }
  return done
}

/** Continues rotations: reseals values that are left, and deletes retired keys that are old enough. */
export async function finishRotations(context: RotationContext): Promise<void> {
  for (const owner of await listOwnersOfRetiredKeys(context.db)) await resealRetired(context, owner)
}
