/**
 * Rotation of both kinds of keys. Each statement leaves every secret readable, so a rotation that is killed anywhere is
 * simply begun again: a value is replaced by another form of itself, and a key goes only when nothing needs it.
 */
import { type Clock, faultPoint } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../database/database.ts'
import {
  deleteDataKey,
  insertDataKey,
  listDataKeys,
  listKeysWrappedOtherwise,
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

/** One change that stays; before and after it the process may be killed. */
const durably = async (name: string, change: () => Promise<unknown>): Promise<void> => {
  faultPoint(`rotate:${name}:before`)
  await change()
  faultPoint(`rotate:${name}:after`)
}

/** Beyond the time a process may go on sealing with a key it has read: transactions under way then have ended. */
const retiredKeptMs = keyCacheMs + 3_600_000

export type RotationContext = {
  db: Db
  clock: Clock
  ring: KeyRing
  sealer: Sealer
  columns: readonly SealedColumn[]
}

/** Wraps every data key with the ring's first key. Answers how many; afterwards the ring's other keys can go. */
export async function rewrapDataKeys(context: Pick<RotationContext, 'db' | 'ring'>): Promise<number> {
  const { db, ring } = context
  let done = 0
  for (;;) {
    const rows = await listKeysWrappedOtherwise(db, ring.first, batch)
    if (rows.length === 0) return done
    for (const row of rows) {
      const owner = ownerOf(row)
      const wrapped = ring.wrap(owner, ring.unwrap(owner, wrappedKey(row)))
      await durably('wrap', () => replaceWrapping(db, row, wrapped))
      done++
    }
  }
}

type SealedRow = { id: string; sealed: string }

/** Rows of one column that hold a value sealed under one of the owner's keys. */
const rowsUnder = async (
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

/** Seals the rows of one column under the current key; one that somebody changed meanwhile is read again. */
const resealColumn = async (
  context: RotationContext,
  column: SealedColumn,
  owner: KeyOwner,
  kid: string,
): Promise<number> => {
  let done = 0
  for (;;) {
    const rows = await rowsUnder(context.db, column, owner, kid, batch)
    if (rows.length === 0) return done
    for (const { id, sealed } of rows) {
      const place = { table: column.table, column: column.column, rowId: id }
      const plaintext = await context.sealer.open(owner, place, sealed)
      const resealed = await context.sealer.seal(owner, place, plaintext)
      const replace = sql`update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${resealed}
        where ${sql.ref(column.rowIdColumn)}::text = ${id} and ${sql.ref(column.ownerColumn)} = ${owner.id}
          and ${sql.ref(column.column)} = ${sealed}`
      await durably('secret', () => replace.execute(context.db))
      done++
    }
  }
}

/** Seals again what retired keys still hold, then deletes those keys that no process can be sealing with any more. */
const retire = async (context: RotationContext, owner: KeyOwner): Promise<number> => {
  const { db, clock } = context
  const columns = context.columns.filter((column) => column.ownerKind === owner.kind)
  let resealed = 0
  for (const { id: kid, retired_at } of await listDataKeys(db, owner)) {
    if (retired_at === null) continue
    // Asked before the rows are sought: what was sealed with the key by then is among them.
    const old = clock.now().getTime() - retired_at.getTime() > retiredKeptMs
    for (const column of columns) resealed += await resealColumn(context, column, owner, kid)
    if (old) await durably('delete', () => deleteDataKey(db, kid))
  }
  context.sealer.forget(owner)
  return resealed
}

/** Gives an owner a new data key and seals all that is theirs with it. Answers how many values were sealed again. */
export async function rotateDataKey(context: RotationContext, owner: KeyOwner): Promise<number> {
  const { db, clock, ring, sealer } = context
  await durably('key', () =>
    withTransaction(db, async (tx) => {
      await retireDataKey(tx, owner, clock.now())
      faultPoint('rotate:key:between')
      await insertDataKey(tx, ring, owner, clock.now())
    }),
  )
  sealer.forget(owner)
  return retire(context, owner)
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

/** Goes on with rotations: seals again what was left, and deletes retired keys whose time is over. */
export async function finishRotations(context: RotationContext): Promise<void> {
  for (const owner of await listOwnersOfRetiredKeys(context.db)) await retire(context, owner)
}
