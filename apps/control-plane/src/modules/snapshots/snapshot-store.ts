/** The SQL for Snapshots as callers see them. Queries for a caller join the caller's memberships. */
import type { Operation, Role } from '@dock/contract'
import { sql } from 'kysely'
import { type Renamed, renamedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/database.ts'
import type { PagePlace } from '../../database/page-cursor.ts'
import { barsMembers, isBeingBooted } from '../docks/index.ts'

const fields = {
  id: 'id',
  dockId: 'dock_id',
  organizationId: 'organization_id',
  status: 'status',
  sizeBytes: 'size_bytes',
  runtime: 'runtime',
  // Null if no host keeps the capture and only the copy is left.
  hostId: 'host_id',
  createdAt: 'created_at',
} as const

export type SnapshotRow = Renamed<'snapshots', typeof fields>

const columns = renamedColumns('s', fields)

export type SnapshotPageRequest = {
  userId: string
  dockId: string | null
  /** The only organization whose Snapshots are wanted. Null: all of the person. */
  organizationId: string | null
  /** Where the previous page ended. */
  after: PagePlace | null
  limit: number
}

/**
 * Returns a page of Snapshots, newest first. Times are compared to the millisecond, which is the precision of the cursor.
 * Without a Dock, the lateral join reads one page per organization along the index, so that the cost of a page does not
 * grow with the number of Snapshots.
 */
export async function listSnapshotRows(db: Db, request: SnapshotPageRequest): Promise<SnapshotRow[]> {
  const { after, dockId } = request
  const newest = sql`${after ? sql`(s.created_at, s.id) < (${after.at}, ${after.id}::uuid)` : sql`true`}
    order by s.created_at desc, s.id desc limit ${request.limit}`
  const found =
    dockId === null
      ? sql`cross join lateral (select * from snapshots s
          where s.organization_id = m.organization_id and ${newest}) s where m.user_id = ${request.userId}`
      : sql`join snapshots s on s.organization_id = m.organization_id and s.dock_id = ${dockId}
          where m.user_id = ${request.userId} and ${after ? sql`(s.created_at, s.id) < (${after.at}, ${after.id}::uuid)` : sql`true`}`
  const within = sql`(${request.organizationId}::uuid is null or m.organization_id = ${request.organizationId}::uuid)`
  const result = await sql<SnapshotRow>`select ${columns} from memberships m ${found} and ${within}
    order by s.created_at desc, s.id desc limit ${request.limit}`.execute(db)
  return result.rows
}

export type ListedSnapshotRow = SnapshotRow & {
  dockName: string | null
  afterPowerCut: boolean
  provenAt: Date | null
  damagedAt: Date | null
}

/** Adds the names of the Docks and what is known about the copies. A Snapshot that is deleted meanwhile is left out. */
export async function describeSnapshotRows(
  db: Db,
  page: readonly SnapshotRow[],
): Promise<ListedSnapshotRow[]> {
  const found = await sql<{
    id: string
    dockName: string | null
    afterPowerCut: boolean
    provenAt: Date | null
    damagedAt: Date | null
  }>`
    select s.id, d.name as "dockName", s.after_power_cut as "afterPowerCut", coalesce(c.drilled_at, c.verified_at) as "provenAt", c.damaged_at as "damagedAt"
    from snapshots s join docks d on d.id = s.dock_id
    left join copies c on c.snapshot_id = s.id and c.verified_at is not null
    where s.id = any(${page.map(({ id }) => id)}::uuid[])`.execute(db)
  const byId = new Map(found.rows.map((row) => [row.id, row]))
  return page.flatMap((row) => {
    const more = byId.get(row.id)
    return more ? [{ ...row, ...more }] : []
  })
}

/** A Snapshot with the fields that decide who may read its files. */
export type VisibleSnapshot = SnapshotRow & { role: Role; barsMembers: boolean }

/** Returns a Snapshot of one of the person's organizations, or null. */
export async function findSnapshotRow(db: Db, userId: string, id: string): Promise<VisibleSnapshot | null> {
  return (
    (
      await sql<VisibleSnapshot>`select ${columns}, m.role, ${barsMembers} as "barsMembers" from snapshots s
      join docks d on d.id = s.dock_id
      join memberships m on m.organization_id = s.organization_id and m.user_id = ${userId}
      where s.id = ${id}`.execute(db)
    ).rows[0] ?? null
  )
}

/** Returns the latest completed Snapshot of a Dock in one of the person's organizations, or null. */
export async function findLatestSnapshotRow(
  db: Db,
  userId: string,
  dockId: string,
): Promise<SnapshotRow | null> {
  return (
    (
      await sql<SnapshotRow>`select ${columns} from snapshots s
      join memberships m on m.organization_id = s.organization_id and m.user_id = ${userId}
      where s.dock_id = ${dockId} and s.status = 'completed'
      order by s.number desc limit 1`.execute(db)
    ).rows[0] ?? null
  )
}

/**
 * Locks the Snapshot of an organization and returns true if it can be deleted: no Template uses it, and it is not being
 * saved, restored or booted. Copies do not depend on those of other Snapshots.
 */
export async function lockUnusedSnapshot(tx: Db, organizationId: string, id: string): Promise<boolean> {
  const result = await sql<{ id: string }>`
    select s.id from snapshots s
    where s.id = ${id} and s.organization_id = ${organizationId} and s.status <> 'saving'
      and not exists (select 1 from snapshot_restores r where r.snapshot_id = s.id and r.state = 'restoring')
      and not exists (select 1 from templates t where t.snapshot_id = s.id and t.status <> 'failed')
      and not ${isBeingBooted}
    for update`.execute(tx)
  return result.rows.length === 1
}

/** Returns the hosts that keep the Snapshot's capture or to which it is being restored. */
export async function listKeepers(db: Db, organizationId: string, id: string): Promise<string[]> {
  return (
    await sql<{ hostId: string }>`
      select k.host_id as "hostId" from snapshots s
      cross join lateral (select s.host_id where s.host_id is not null
        union select r.host_id from snapshot_restores r where r.snapshot_id = s.id) k
      where s.id = ${id} and s.organization_id = ${organizationId}`.execute(db)
  ).rows.map(({ hostId }) => hostId)
}

/** Returns the operation of this kind for a Snapshot that is not completed, or null. */
export async function findActiveOperation(
  db: Db,
  organizationId: string,
  kind: string,
  snapshotId: string,
): Promise<Operation | null> {
  return (
    (
      await sql<Operation>`
      select id, target_type as "targetType", target_id as "targetId", status from operations
      where organization_id = ${organizationId} and kind = ${kind} and target_id = ${snapshotId}
        and status <> 'completed'`.execute(db)
    ).rows[0] ?? null
  )
}
