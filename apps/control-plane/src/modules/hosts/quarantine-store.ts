/** The only SQL for the quarantine: what hosts and the object store keep and the database does not know. */
import type { DockNote } from '@dock/host-protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

export type Quarantined = {
  id: string
  /** Null: the object store. */
  hostId: string | null
  kind: 'dock' | 'capture' | 'objects'
  /** The Dock, the capture, or the copy that stored the objects. */
  thingId: string
  generation: number
  organizationId: string | null
  dockId: string | null
  note: DockNote | null
  sizeBytes: number | null
  diskBytes: number | null
  state: 'found' | 'held' | 'adopted' | 'deleted'
  firstSeenAt: Date
}

const columns = sql`q.id, q.host_id as "hostId", q.kind, q.thing_id as "thingId", q.generation,
  q.organization_id as "organizationId", q.dock_id as "dockId", q.note, q.size_bytes as "sizeBytes", q.disk_bytes as "diskBytes", q.state,
  q.first_seen_at as "firstSeenAt"`

/** True for a capture `c.id` that stands in the quarantine of the host already. */
export function inQuarantine(hostId: string): RawBuilder<boolean> {
  return sql`(exists (select 1 from quarantine q
    where q.host_id = ${hostId} and q.state in ('found', 'held') and q.kind = 'capture' and q.thing_id = c.id)
  or exists (select 1 from quarantine q
    where q.host_id = ${hostId} and q.state in ('found', 'held') and q.kind = 'dock' and q.id = c.id))`
}

export type FoundThing = { kind: 'dock' | 'capture'; thingId: string; generation: number }

/** Notes what a host reported. What stands there already stays as it is. `newId` makes the ids. */
export async function noteFound(
  db: Db,
  hostId: string,
  things: readonly FoundThing[],
  { newId, now }: { newId: () => string; now: Date },
): Promise<void> {
  if (things.length === 0) return
  const rows = things.map((thing) => ({ ...thing, id: newId() }))
  await sql`insert into quarantine (id, host_id, kind, thing_id, generation, dock_id, state, first_seen_at)
    select t.id, ${hostId}::uuid, t.kind, t."thingId", t.generation,
      case when t.kind = 'dock' then t."thingId" end, 'found', ${now}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as t(id uuid, kind text, "thingId" uuid, generation integer)
    on conflict do nothing`.execute(db)
}

/** Up to `limit` things of the host that it has not confirmed yet, oldest first. */
export async function foundOnHost(db: Db, hostId: string, limit: number): Promise<Quarantined[]> {
  return (
    await sql<Quarantined>`select ${columns} from quarantine q where q.host_id = ${hostId} and q.state = 'found'
      order by q.first_seen_at, q.id limit ${limit}`.execute(db)
  ).rows
}

/** The capture that holds the data of a Dock or a capture. */
export function captureOf({ kind, id, thingId }: Quarantined): string {
  return kind === 'dock' ? id : thingId
}

/** The host keeps it: it waits for a decision from now on. Returns false where that was known. */
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

/** The host does not keep it after all: the report was older than its removal. */
export async function forgetFound(db: Db, id: string): Promise<void> {
  await sql`delete from quarantine where id = ${id} and state = 'found'`.execute(db)
}

/** Docks of a host that stand in quarantine. */
export async function quarantinedDocks(db: Db, hostId: string): Promise<{ dockId: string }[]> {
  return (
    await sql<{ dockId: string }>`select thing_id as "dockId" from quarantine
      where host_id = ${hostId} and kind = 'dock' and state in ('found', 'held') order by first_seen_at`.execute(
      db,
    )
  ).rows
}

/** A page of what stands in quarantine, oldest first; `all` includes what was decided. */
export async function listQuarantineRows(
  db: Db,
  { all, limit }: { all: boolean; limit: number },
): Promise<Quarantined[]> {
  return (
    await sql<Quarantined>`select ${columns} from quarantine q
      where ${all} or q.state in ('found', 'held') order by q.first_seen_at, q.id limit ${limit}`.execute(db)
  ).rows
}

/** Locks what stands in quarantine under this id; null when nothing does. */
export async function lockQuarantined(tx: Db, id: string): Promise<Quarantined | null> {
  return (
    (await sql<Quarantined>`select ${columns} from quarantine q where q.id = ${id} for update`.execute(tx))
      .rows[0] ?? null
  )
}

export async function decide(tx: Db, id: string, state: 'adopted' | 'deleted', now: Date): Promise<void> {
  await sql`update quarantine set state = ${state}, decided_at = ${now} where id = ${id}`.execute(tx)
}

/** True while nobody has decided on it. */
export function isOpen({ state }: Quarantined): boolean {
  return state === 'found' || state === 'held'
}

/** One organization that is being removed, or what a host has of those that were. */
export type DeletedOrganizations = { organizationId: string } | { onHost: string }

/**
 * Takes up to `limit` entries out of quarantine, decided ones as well, and returns them. Of an organization that is being
 * removed the database knows the Docks too, whatever their hosts noted.
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

/** How many things wait for a decision. */
export async function countQuarantined(db: Db): Promise<number> {
  return (
    (
      await sql<{
        n: number
      }>`select count(*)::int as n from quarantine where state in ('found', 'held')`.execute(db)
    ).rows[0]?.n ?? 0
  )
}
