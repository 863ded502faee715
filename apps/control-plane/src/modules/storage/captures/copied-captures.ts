/** What a Snapshot's row tells about its copy, and about captures that its copy replaces. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { anyCaptureKeeper, hostIdWithout } from './capture-keepers.ts'

/** Records that the Snapshot has a verified copy, so that it can be restored on any host. */
export async function recordCopied(tx: Tx, snapshotId: string, now: Date): Promise<void> {
  await sql`update snapshots set copied_at = ${now}
    where id = ${snapshotId} and status = 'completed'`.execute(tx)
}

/** Records that those of the Snapshots whose capture a host keeps have no copy, and returns them. */
export async function recordUncopied(tx: Tx, snapshotIds: readonly string[]): Promise<string[]> {
  const uncopied = await sql<{ id: string }>`
    update snapshots s set copied_at = null, host_id = ${anyCaptureKeeper}
    where s.id = any(${snapshotIds}::uuid[]) and ${anyCaptureKeeper} is not null returning s.id`.execute(tx)
  return uncopied.rows.map(({ id }) => id)
}

/** Fails those of the completed Snapshots whose capture no host keeps, and returns them. Their copies are lost. */
export async function failUnkeptSnapshots(db: Db, snapshotIds: readonly string[]): Promise<string[]> {
  const failed = await sql<{ id: string }>`
    update snapshots s set status = 'failed'
    where s.id = any(${snapshotIds}::uuid[]) and s.status = 'completed'
      and s.host_id is null and not exists (select 1 from snapshot_restores r where r.snapshot_id = s.id)
    returning s.id`.execute(db)
  return failed.rows.map(({ id }) => id)
}

/**
 * Two SQL statements after which the host no longer counts as a keeper of the captures of `snapshots`, a relation with
 * `id`. The first covers the host that a Snapshot names, the second the other keepers. Each returns the `id` of the
 * Snapshots that it changed.
 */
export function forgetKeeper(
  hostId: string,
  snapshots: RawBuilder<unknown>,
): [named: RawBuilder<unknown>, other: RawBuilder<unknown>] {
  return [
    sql`update snapshots s set host_id = ${hostIdWithout(hostId)} from ${snapshots} f
      where s.id = f.id and s.host_id = ${hostId} returning s.id`,
    sql`delete from snapshot_restores r using ${snapshots} f
      where r.snapshot_id = f.id and r.host_id = ${hostId} and r.state = 'kept' returning f.id`,
  ]
}
