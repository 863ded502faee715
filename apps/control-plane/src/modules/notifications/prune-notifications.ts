/** Deletes old notifications, whether or not they were read. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { batchRows, deleteInBatches } from '../../database/delete-in-batches.ts'

export const notificationsKeptMs = 180 * 24 * 3_600_000

/** Deletes the old notifications of all users, in batches. */
export async function pruneNotifications({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - notificationsKeptMs)
  await deleteInBatches(
    db,
    sql`delete from notifications where id in (
      select id from notifications where occurred_at < ${before} limit ${batchRows})`,
  )
}
