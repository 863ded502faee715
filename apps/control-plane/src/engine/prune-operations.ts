/** Deletes old completed operations, and all operations of a deleted organization. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import { batchRows, deleteInBatches } from '../database/delete-in-batches.ts'

/** How long a completed operation stays readable. */
export const operationsKeptMs = 90 * 24 * 3_600_000

/** Deletes completed operations of all organizations that are older than {@link operationsKeptMs}. */
export async function pruneOperations({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - operationsKeptMs)
  await deleteInBatches(
    db,
    sql`delete from operations where status = 'completed' and id in (
      select id from operations where status = 'completed' and updated_at < ${before} limit ${batchRows})`,
  )
}

/**
 * Removes the operations of a deleted organization. Returns the number that are left. Once its Docks and Snapshots are
 * gone, blocked operations are removed too: nothing is left for them to change.
 */
export async function removeOperations(db: Db, organizationId: string): Promise<number> {
  const isDone = await deleteInBatches(
    db,
    sql`delete from operations where id in (select id from operations
      where organization_id = ${organizationId} and (status = 'completed' or status = 'blocked'
        and not exists (select 1 from docks where organization_id = ${organizationId})
        and not exists (select 1 from snapshots where organization_id = ${organizationId})) limit ${batchRows})`,
  )
  const left = await sql<{ n: number }>`select count(*)::int as n from operations
    where organization_id = ${organizationId} and status <> 'completed'`.execute(db)
  return left.rows[0]!.n + (isDone ? 0 : 1)
}
