/** All SQL for the hosted assistant: unfinished sign-ins and connections. Tokens and codes are sealed. */
import { sql } from 'kysely'
import { columnsOf } from '../../../database/columns.ts'
import type { Db, Row, Tx } from '../../../database/database.ts'
import type { Place, SealedColumn } from '../../../sealing/index.ts'

export type ConnectionRow = Row<'assistant_connections'>
export type DeviceSignInRow = Row<'device_sign_ins'>

export const assistantTokensColumn: SealedColumn = {
  table: 'assistant_connections',
  column: 'sealed_tokens',
  rowIdColumn: 'id',
  ownerKind: 'person',
  ownerColumn: 'user_id',
}
export const deviceCodeColumn: SealedColumn = {
  table: 'device_sign_ins',
  column: 'sealed_device_code',
  rowIdColumn: 'id',
  ownerKind: 'person',
  ownerColumn: 'user_id',
}

/** Returns the place that the value of a row is sealed to. */
export function placeIn({ table, column }: SealedColumn, rowId: string): Place {
  return { table, column, rowId }
}

export function findConnection(db: Db, userId: string): Promise<ConnectionRow | undefined> {
  return db
    .selectFrom('assistant_connections')
    .select(columnsOf('assistant_connections'))
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Inserts or replaces a user's connection. */
export async function putConnection(tx: Tx, row: ConnectionRow): Promise<void> {
  await tx.deleteFrom('assistant_connections').where('user_id', '=', row.user_id).execute()
  await tx.insertInto('assistant_connections').values(row).execute()
}

/** Deletes a user's connection. Returns false if there was none. */
export async function deleteConnection(db: Db, userId: string): Promise<boolean> {
  const result = await db.deleteFrom('assistant_connections').where('user_id', '=', userId).executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Inserts or replaces a user's unfinished sign-in. The replaced device code is not polled any more. */
export async function putDeviceSignIn(db: Db, row: DeviceSignInRow): Promise<void> {
  await db
    .insertInto('device_sign_ins')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({
        id: sql`excluded.id`,
        sealed_device_code: sql`excluded.sealed_device_code`,
        interval_seconds: sql`excluded.interval_seconds`,
        next_poll_at: sql`excluded.next_poll_at`,
        expires_at: sql`excluded.expires_at`,
      }),
    )
    .execute()
}

export function findDeviceSignIn(db: Db, userId: string): Promise<DeviceSignInRow | undefined> {
  return db
    .selectFrom('device_sign_ins')
    .select(columnsOf('device_sign_ins'))
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Returns true if the caller may poll the provider now. Of concurrent callers, one gets true per interval. */
export async function takePollTurn(db: Db, row: DeviceSignInRow, now: Date): Promise<boolean> {
  const next = new Date(now.getTime() + row.interval_seconds * 1000)
  const result = await db
    .updateTable('device_sign_ins')
    .set({ next_poll_at: next })
    .where('id', '=', row.id)
    .where('next_poll_at', '<=', now)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Sets a longer interval, which starts now. */
export async function slowDown(db: Db, id: string, intervalSeconds: number, now: Date): Promise<void> {
  await db
    .updateTable('device_sign_ins')
    .set({
      interval_seconds: intervalSeconds,
      next_poll_at: new Date(now.getTime() + intervalSeconds * 1000),
    })
    .where('id', '=', id)
    .execute()
}

/** Deletes a sign-in. Returns false if it was already deleted or replaced. */
export async function deleteDeviceSignIn(db: Db, id: string): Promise<boolean> {
  const result = await db.deleteFrom('device_sign_ins').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows > 0n
}
