/** Saves a capture that is adopted from quarantine as a Snapshot. The caller must have locked the Dock's row. */
import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import { endHostOrder, QuarantineRefused } from '../../hosts/index.ts'

export type AdoptedCapture = {
  id: string
  hostId: string
  dockId: string
  organizationId: string
  sizeBytes: number
  diskGiB: number
  /** Creation time of the new Snapshot. */
  capturedAt: Date
}

/** Returns the Dock of the Snapshot with this id, or null if there is no such Snapshot. */
export async function dockOfSnapshot(tx: Tx, id: string): Promise<string | null> {
  return (
    (await sql<{ dockId: string }>`select dock_id as "dockId" from snapshots where id = ${id}`.execute(tx))
      .rows[0]?.dockId ?? null
  )
}

/**
 * Completes a Snapshot row that exists already, because it failed or another host keeps its capture. The Snapshot keeps
 * its number. If its copy is damaged, it is copied again. Returns false if it is still being saved.
 */
const completeExisting = async (tx: Tx, capture: AdoptedCapture, now: Date): Promise<boolean> => {
  const { id, hostId, dockId, organizationId, sizeBytes } = capture
  const taken = await sql`
    with taken as (update snapshots s set status = 'completed', lost_at = null,
        copied_at = case when not exists (select 1 from copies c
          where c.snapshot_id = s.id and c.damaged_at is not null) then s.copied_at end,
        size_bytes = case when s.status = 'completed' then s.size_bytes else ${sizeBytes}::bigint end,
        host_id = case when s.status = 'completed' and s.host_id is not null then s.host_id else ${hostId}::uuid end
      where s.id = ${id} and s.dock_id = ${dockId} and s.organization_id = ${organizationId} and s.status <> 'saving'
      returning s.id, s.host_id),
    kept as (insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
      select id, ${hostId}::uuid, 'kept', ${now}::timestamptz from taken where host_id <> ${hostId}
      on conflict (snapshot_id, host_id) do update set state = 'kept', updated_at = excluded.updated_at)
    select 1 from taken`.execute(tx)
  return taken.rows.length > 0
}

/** Inserts the Snapshot. Snapshots created after it get new, higher numbers, so that numbers follow creation time. */
const insert = async (tx: Tx, capture: AdoptedCapture): Promise<void> => {
  const { id, hostId, dockId, organizationId, sizeBytes, diskGiB, capturedAt } = capture
  await sql`
    insert into snapshots (id, dock_id, organization_id, status, size_bytes, runtime, host_id, disk_gib, created_at)
    select ${id}::uuid, ${dockId}::uuid, ${organizationId}::uuid, 'completed', ${sizeBytes}::bigint, h.runtime, h.id,
      ${diskGiB}::int, ${capturedAt}::timestamptz
    from hosts h where h.id = ${hostId}::uuid`.execute(tx)
  await sql`
    with later as (
        select id from snapshots where dock_id = ${dockId} and organization_id = ${organizationId}
          and created_at > ${capturedAt} order by number),
      numbered as materialized (
        select id, nextval(pg_get_serial_sequence('snapshots', 'number')) as number from later)
    update snapshots s set number = n.number from numbered n where s.id = n.id`.execute(tx)
}

/** Saves the Snapshot and cancels any order to remove its capture. Throws {@link QuarantineRefused} while it is being saved. */
export async function saveAdopted(tx: Tx, capture: AdoptedCapture, now: Date): Promise<void> {
  const { id, hostId } = capture
  if ((await dockOfSnapshot(tx, id)) === null) await insert(tx, capture)
  else if (!(await completeExisting(tx, capture, now)))
    throw new QuarantineRefused(
      'conflict',
      `Snapshot ${id} is still being saved. Adopt the entry again when it is completed or failed.`,
    )
  await endHostOrder(tx, { hostId, kind: 'capture', thingId: id, generation: 0 })
}
