/** All SQL for sign-ins of machines. */
import { sql } from 'kysely'
import { columnsOf } from '../../../database/columns.ts'
import type { Db, Row, Tx } from '../../../database/database.ts'
import { batchRows, deleteInBatches } from '../../../database/delete-in-batches.ts'

export type DeviceCodeRow = Row<'device_codes'>
const columns = columnsOf('device_codes')

/** Inserts a sign-in. Returns false if another one has its user code. */
export async function insertDeviceCode(db: Db, row: DeviceCodeRow): Promise<boolean> {
  const result = await db
    .insertInto('device_codes')
    .values(row)
    .onConflict((conflict) => conflict.column('user_code_hash').doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Returns the person who approved the sign-in that a machine polls for, or null. Locks nothing. */
export async function findApprover(tx: Tx, hash: Buffer): Promise<string | null> {
  const row = await tx
    .selectFrom('device_codes')
    .select('user_id')
    .where('device_code_hash', '=', hash)
    .where('decision', '=', 'approved')
    .executeTakeFirst()
  return row?.user_id ?? null
}

/** Returns the sign-in that a machine polls for, locked, so that of concurrent polls one gets the key. */
export function lockByDeviceCode(tx: Tx, hash: Buffer): Promise<DeviceCodeRow | undefined> {
  return tx
    .selectFrom('device_codes')
    .select(columns)
    .where('device_code_hash', '=', hash)
    .forUpdate()
    .executeTakeFirst()
}

/** Returns the sign-in with this user code, if nobody has decided it and it has not expired. */
export function findUndecided(db: Db, userCodeHash: Buffer, now: Date): Promise<DeviceCodeRow | undefined> {
  return db
    .selectFrom('device_codes')
    .select(columns)
    .where('user_code_hash', '=', userCodeHash)
    .where('decision', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Records a decision. Returns the sign-in, or undefined if it was decided before or has expired. */
export function decide(
  db: Db,
  userCodeHash: Buffer,
  decision: { userId: string; decision: 'approved' | 'denied'; now: Date },
): Promise<DeviceCodeRow | undefined> {
  return db
    .updateTable('device_codes')
    .set({ user_id: decision.userId, decision: decision.decision })
    .where('user_code_hash', '=', userCodeHash)
    .where('decision', 'is', null)
    .where('expires_at', '>', decision.now)
    .returning(columns)
    .executeTakeFirst()
}

/** Sets when the machine may poll next, and how long it waits from then on. */
export async function setPollTurn(
  tx: Tx,
  id: string,
  turn: { intervalSeconds: number; nextPollAt: Date },
): Promise<void> {
  await tx
    .updateTable('device_codes')
    .set({ interval_seconds: turn.intervalSeconds, next_poll_at: turn.nextPollAt })
    .where('id', '=', id)
    .execute()
}

export async function deleteDeviceCode(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('device_codes').where('id', '=', id).execute()
}

/** Deletes what a person approved and no machine has fetched yet. */
export async function deleteDecidedDeviceCodes(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('device_codes').where('user_id', '=', userId).execute()
}

/** Deletes expired sign-ins, in batches. */
export async function pruneDeviceCodes(db: Db, now: Date): Promise<void> {
  await deleteInBatches(
    db,
    sql`delete from device_codes where id in (
      select id from device_codes where expires_at < ${now} limit ${batchRows})`,
  )
}
