/** The columns of a Dock that follow its Snapshots. */
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'

/** SQL that records a new Snapshot of the running Dock if `given` holds. A capture that succeeds ends a pause of billing. */
export function recordNewSnapshot(
  dockId: string | null,
  now: Date,
  given: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`update docks set last_snapshot_at = ${now}, billing_paused_at = null, updated_at = ${now}
    where id = ${dockId}::uuid and ${given}`
}

/** SQL that recomputes `last_snapshot_at` of the Dock, if `given` holds, without the Snapshot that the statement deletes. */
export function recordDeletedSnapshot(
  snapshot: { id: string; dockId: string | null; organizationId: string },
  given: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`update docks set last_snapshot_at = (select max(s.created_at) from snapshots s
      where s.dock_id = ${snapshot.dockId}::uuid and s.status = 'completed' and s.id <> ${snapshot.id})
    where id = ${snapshot.dockId}::uuid and organization_id = ${snapshot.organizationId} and ${given}`
}

/** Recomputes `last_snapshot_at` after the Docks' Snapshots have changed. With `now`, the Docks count as updated. */
export async function updateLastSnapshotAt(tx: Tx, dockIds: readonly string[], now?: Date): Promise<void> {
  await sql`update docks d set last_snapshot_at = (select max(s.created_at) from snapshots s
      where s.dock_id = d.id and s.status = 'completed'), updated_at = coalesce(${now ?? null}, updated_at)
    where d.id = any(${dockIds}::uuid[])`.execute(tx)
}
