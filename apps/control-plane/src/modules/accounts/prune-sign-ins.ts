/** Deletes expired sessions and expired rows of `verifications` (mailed links, unfinished OAuth sign-ins). */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { batchRows, deleteInBatches } from '../../database/delete-in-batches.ts'

/** How long a row is kept after it expires. It is refused from its expiry on, not from its deletion. */
const keptMs = 24 * 3_600_000

/** Deletes the expired rows of all users, in batches. */
export async function pruneSignIns({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - keptMs)
  for (const expired of [
    sql`delete from sessions where id in (
      select id from sessions where expires_at < ${before} limit ${batchRows})`,
    sql`delete from verifications where id in (
      select id from verifications where expires_at < ${before} limit ${batchRows})`,
  ])
    await deleteInBatches(db, expired)
}
