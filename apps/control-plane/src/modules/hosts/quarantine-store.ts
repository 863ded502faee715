/** The only SQL for the quarantine: data that hosts or the object store keep and that the database does not know. */
import { newUuid } from '@dock/foundation'
import type { DockNote } from '@dock/host-protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { Actor } from '../audit/index.ts'

export type Quarantined = {
  id: string
  /** Null if the data is in the object store. */
  hostId: string | null
  kind: 'dock' | 'capture' | 'objects'
  /** Id of the Dock, of the capture, or of the copy that stored the objects. */
  thingId: string
  /** 0 for a capture, and for a Dock whose generation its host does not know. */
  generation: number
  organizationId: string | null
  dockId: string | null
  note: DockNote | null
  sizeBytes: number | null
  diskBytes: number | null
  state: 'found' | 'held' | 'adopted' | 'deleted'
  firstSeenAt: Date
  /** The instance admin who decided in the dashboard. Null: no decision yet, or one with the script. */
  decidedBy: string | null
}

/** Returns the id of the instance admin who decides. Null: an operator, with the script on the server. */
export function adminIdOf(by: Actor): string | null {
  return 'userId' in by ? by.userId : null
}

const columns = sql`q.id, q.host_id as "hostId", q.kind, q.thing_id as "thingId", q.generation,
  q.organization_id as "organizationId", q.dock_id as "dockId", q.note, q.size_bytes as "sizeBytes", q.disk_bytes as "diskBytes", q.state,
  q.first_seen_at as "firstSeenAt", q.decided_by as "decidedBy"`

/** SQL predicate: true if the capture `c.id` is already in quarantine on the host. */
export function isInQuarantine(hostId: string): RawBuilder<boolean> {
  return sql`(exists (select 1 from quarantine q
    where q.host_id = ${hostId} and q.state in ('found', 'held') and q.kind = 'capture' and q.thing_id = c.id)
  or exists (select 1 from quarantine q
    where q.host_id = ${hostId} and q.state in ('found', 'held') and q.kind = 'dock' and q.id = c.id))`
}

export type FoundItem = { kind: 'dock' | 'capture'; thingId: string; generation: number }

/** Adds reported items to the quarantine as `found`. Items that are already there do not change. */
export async function insertFound(
  db: Db,
  hostId: string,
  items: readonly FoundItem[],
  { newId, now }: { newId: () => string; now: Date },
): Promise<void> {
  if (items.length === 0) return
  const rows = items.map((item) => ({ ...item, id: newId() }))
  await sql`insert into quarantine (id, host_id, kind, thing_id, generation, dock_id, state, first_seen_at)
    select t.id, ${hostId}::uuid, t.kind, t."thingId", t.generation,
      case when t.kind = 'dock' then t."thingId" end, 'found', ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as t(id uuid, kind text, "thingId" uuid, generation integer)
    on conflict do nothing`.execute(db)
}

/** Objects of a copy that the database does not know. */
export type UnknownObjects = { copyId: string; organizationId: string; sizeBytes: number }

/** Adds objects of the object store as `held`, one item for each copy. Returns the items that were not there already. */
export async function quarantineObjects(
  db: Db,
  unknown: readonly UnknownObjects[],
  now: Date,
): Promise<{ id: string; copyId: string; organizationId: string }[]> {
  const rows = unknown.map((each) => ({ ...each, id: newUuid() }))
  return (
    await sql<{ id: string; copyId: string; organizationId: string }>`
    insert into quarantine (id, kind, thing_id, organization_id, size_bytes, state, first_seen_at)
    select u.id, 'objects', u."copyId", u."organizationId", u."sizeBytes", 'held', ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as u(id uuid, "copyId" uuid, "organizationId" uuid, "sizeBytes" bigint)
    on conflict do nothing
    returning id, thing_id as "copyId", organization_id as "organizationId"`.execute(db)
  ).rows
}

/** Returns up to `limit` items that the host has not confirmed yet, oldest first. */
export async function listFound(db: Db, hostId: string, limit: number): Promise<Quarantined[]> {
  return (
    await sql<Quarantined>`select ${columns} from quarantine q where q.host_id = ${hostId} and q.state = 'found'
      order by q.first_seen_at, q.id limit ${limit}`.execute(db)
  ).rows
}

/** Returns the id of the capture that holds the item's data. A quarantined Dock's capture has the id of the item. */
export function captureIdOf({ kind, id, thingId }: Quarantined): string {
  return kind === 'dock' ? id : thingId
}

/** Returns the generation for a command about the item's Dock. A host that does not know the generation takes any. */
export function commandGenerationOf({ generation }: Quarantined): number {
  return Math.max(generation, 1)
}

/** Marks an item `held`: its host keeps the capture, and an operator can decide. Returns false if it was not `found`. */
export async function markHeld(
  db: Db,
  id: string,
  facts: { note: DockNote | null; sizeBytes: number | null; diskBytes: number | null },
): Promise<boolean> {
  const { note, sizeBytes, diskBytes } = facts
  const held =
    await sql`update quarantine set state = 'held', size_bytes = ${sizeBytes}, disk_bytes = ${diskBytes},
      note = ${note && JSON.stringify(note)}::jsonb, dock_id = coalesce(dock_id, ${note?.dockId ?? null}::uuid),
      organization_id = ${note?.organizationId ?? null}::uuid,
      generation = greatest(generation, ${note?.generation ?? 0}::integer)
    where id = ${id} and state = 'found'`.execute(db)
  return held.numAffectedRows === 1n
}

/** Removes a `found` item that the host no longer has: the report was older than the item's removal. */
export async function forgetFound(db: Db, id: string): Promise<void> {
  await sql`delete from quarantine where id = ${id} and state = 'found'`.execute(db)
}

/** Returns the Docks of a host that are in quarantine. */
export async function listQuarantinedDocks(db: Db, hostId: string): Promise<{ dockId: string }[]> {
  return (
    await sql<{ dockId: string }>`select thing_id as "dockId" from quarantine
      where host_id = ${hostId} and kind = 'dock' and state in ('found', 'held') order by first_seen_at`.execute(
      db,
    )
  ).rows
}

/** Returns up to `limit` items, oldest first. `all` includes items that were decided. */
export async function listQuarantineRows(
  db: Db,
  { all, limit }: { all: boolean; limit: number },
): Promise<Quarantined[]> {
  return (
    await sql<Quarantined>`select ${columns} from quarantine q
      where ${all} or q.state in ('found', 'held') order by q.first_seen_at, q.id limit ${limit}`.execute(db)
  ).rows
}

/** Returns an item with the Dock's disk that its host has not confirmed. A lost host may never confirm it. */
export async function findUnconfirmedDisk(
  tx: Db,
  dockId: string,
): Promise<{ id: string; hostId: string } | null> {
  return (
    (
      await sql<{ id: string; hostId: string }>`select q.id, q.host_id as "hostId" from quarantine q
      join hosts h on h.id = q.host_id
      where q.kind = 'dock' and q.thing_id = ${dockId} and q.state = 'found' and h.lost_at is null
      order by q.generation desc limit 1`.execute(tx)
    ).rows[0] ?? null
  )
}

/** Locks and returns an item, or returns null if there is none with this id. */
export async function lockQuarantined(tx: Db, id: string): Promise<Quarantined | null> {
  return (
    (await sql<Quarantined>`select ${columns} from quarantine q where q.id = ${id} for update`.execute(tx))
      .rows[0] ?? null
  )
}

/** Records an operator's decision, by whom it was made in the dashboard, and which Dock adopted the item. */
export async function recordQuarantineDecision(
  tx: Db,
  id: string,
  decision: { state: 'adopted' | 'deleted'; adminId: string | null; now: Date; dockId?: string },
): Promise<void> {
  const { state, adminId, now, dockId = null } = decision
  await sql`update quarantine set state = ${state}, decided_at = ${now}, decided_by = ${adminId},
      dock_id = coalesce(${dockId}::uuid, dock_id)
    where id = ${id}`.execute(tx)
}

/** Returns true if no decision was made on the item. */
export function isUndecided({ state }: Quarantined): boolean {
  return state === 'found' || state === 'held'
}

/** Selects items: those of one organization that is being removed, or those of all deleted organizations on one host. */
export type DeletedOrganizations = { organizationId: string } | { onHost: string }

/**
 * Removes up to `limit` items from the quarantine, including decided ones, and returns them. The Docks of an organization
 * that is being removed are found by the database's own record too, whatever organization their hosts noted.
 */
export async function takeQuarantined(
  tx: Tx,
  of: DeletedOrganizations,
  limit: number,
): Promise<Quarantined[]> {
  const which =
    'onHost' in of
      ? sql`q.host_id = ${of.onHost} and exists (select 1 from erasures e
          where e.kind = 'organization' and e.id = q.organization_id::text)`
      : sql`(q.organization_id = ${of.organizationId} or exists (select 1 from dock_state_changes c
          where c.dock_id = q.dock_id and c.organization_id = ${of.organizationId}))`
  const taken = await sql<Quarantined>`delete from quarantine q
    where q.id in (select q.id from quarantine q where ${which} order by q.id limit ${limit} for update)
    returning ${columns}`.execute(tx)
  return taken.rows
}

/** Returns how many items wait for a decision. */
export async function countQuarantined(db: Db): Promise<number> {
  return (
    (
      await sql<{
        n: number
      }>`select count(*)::int as n from quarantine where state in ('found', 'held')`.execute(db)
    ).rows[0]?.n ?? 0
  )
}
