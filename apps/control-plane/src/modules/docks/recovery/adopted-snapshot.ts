/** The Snapshot that a capture becomes when it is adopted from quarantine. The caller has locked its Dock. */
import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import { endHostOrder } from '../../hosts/index.ts'

export type AdoptedCapture = {
  id: string
  hostId: string
  dockId: string
  organizationId: string
  sizeBytes: number
  diskGiB: number
  /** The age of its disk. */
  capturedAt: Date
}

/** The Dock whose Snapshot already has this id; null where none has. */
export async function dockOfSnapshot(tx: Tx, id: string): Promise<string | null> {
  return (
    (await sql<{ dockId: string }>`select dock_id as "dockId" from snapshots where id = ${id}`.execute(tx))
      .rows[0]?.dockId ?? null
  )
}

/**
 * The Snapshot is there already, and failed or is kept by another host. It keeps its place among the others of its Dock.
 * Returns false where it is being made.
 */
const takeBack = async (tx: Tx, capture: AdoptedCapture, now: Date): Promise<boolean> => {
  const { id, hostId, dockId, organizationId, sizeBytes } = capture
  const taken = await sql`
    with taken as (update snapshots s set status = 'completed', lost_at = null,
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

/** Snapshots that were made after the disk are newer than it: they are numbered again, in their order. */
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

/** Throws a sentence that says what to do. */
export async function saveAdopted(tx: Tx, capture: AdoptedCapture, now: Date): Promise<void> {
  const { id, hostId, dockId } = capture
  if ((await dockOfSnapshot(tx, id)) === null) await insert(tx, capture)
  else if (!(await takeBack(tx, capture, now)))
    throw new Error(`Its Snapshot ${id} is being made: adopt it when that has ended.`)
  await endHostOrder(tx, { hostId, kind: 'capture', thingId: id, generation: 0 })
  await sql`update docks set updated_at = ${now}, last_snapshot_at = (select max(s.created_at) from snapshots s
      where s.dock_id = ${dockId} and s.status = 'completed') where id = ${dockId}`.execute(tx)
}
