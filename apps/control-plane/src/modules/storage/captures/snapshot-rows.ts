/**
 * SQL that changes rows of `snapshots` as a part of a larger statement, which claims, commits or completes an operation.
 * `given` is a condition on that statement's other parts.
 */
import { type RawBuilder, sql } from 'kysely'

/**
 * SQL that inserts a Snapshot that is being saved, for a row of `docks`. That relation has the columns `id`,
 * `organization_id`, `runtime`, `host_id` and `disk_gib` of the Dock to capture.
 */
export function insertSavingSnapshot(id: string, docks: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`insert into snapshots (id, dock_id, organization_id, status, runtime, host_id, disk_gib, created_at)
    select ${id}::uuid, d.id, d.organization_id, 'saving', d.runtime, d.host_id, d.disk_gib, ${now}::timestamptz
    from ${docks} d`
}

export type SavedSnapshot = {
  /** Null: there is no Snapshot. The statement then changes nothing. */
  id: string | null
  status: 'completed' | 'failed'
  sizeBytes: number
  /** The disk is as after a power cut. */
  afterPowerCut?: boolean | undefined
  /** The row shall name no host, so that a capture which turns up later goes to quarantine. */
  forgetsHost?: boolean
}

/** SQL that ends the saving of a Snapshot. Returns its `id` if it was being saved. */
export function endSavingSnapshot(
  { id, status, sizeBytes, afterPowerCut = false, forgetsHost = false }: SavedSnapshot,
  given: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`update snapshots set status = ${status}, size_bytes = ${sizeBytes}, after_power_cut = ${afterPowerCut},
      host_id = case when ${forgetsHost} then null else host_id end
    where id = ${id}::uuid and status = 'saving' and ${given} returning id`
}

/** SQL that fails the Snapshots of a Dock that are being saved. Returns their `id` and `host_id`. */
export function failSavingSnapshots(dockId: string, given: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`update snapshots set status = 'failed'
    where dock_id = ${dockId} and status = 'saving' and ${given} returning id, host_id`
}

/** SQL that deletes a Snapshot. Returns its `id`. */
export function deleteSnapshotRow(
  { id, organizationId }: { id: string; organizationId: string },
  given: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`delete from snapshots where id = ${id} and organization_id = ${organizationId} and ${given} returning id`
}

/** SQL that deletes all Snapshots of a Dock. */
export function deleteSnapshotsOfDock(dockId: string, given: RawBuilder<boolean>): RawBuilder<unknown> {
  return sql`delete from snapshots where dock_id = ${dockId} and ${given}`
}
