/** Sessions that are over, and links and half-finished sign-ins whose time has passed. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { batchRows, deleteBatches } from '../../database/delete-batches.ts'

/** After its end. Whoever comes with it is refused all the same. */
const keptMs = 24 * 3_600_000

/** One round, over every person. */
export async function pruneSignIns({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - keptMs)
  for (const table of ['sessions', 'verifications'])
    await deleteBatches(
      db,
      sql`delete from ${sql.table(table)} where id in (
        select id from ${sql.table(table)} where expires_at < ${before} limit ${batchRows})`,
    )
}
