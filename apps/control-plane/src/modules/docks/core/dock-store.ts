/** Queries that read Docks. Queries for a caller join the caller's memberships, so they never find others' Docks. */
import type { DockState, Operation, Role } from '@dock/contract'
import { sql } from 'kysely'
import { renamedColumns } from '../../../database/columns.ts'
import type { Db } from '../../../database/database.ts'
import { type DockRow, dockFields, type VisibleDock } from './dock.ts'
import { readyStates } from './dock-state.ts'
import { type Binding, barsMembers, bindingColumns } from './environment-gate.ts'
import { isDrivenByRun } from './run-gate.ts'
import { yieldsToDelete } from './yields-to-delete.ts'

/** Columns of a {@link DockRow}, for the table alias `d`. */
export const dockColumns = renamedColumns('d', dockFields)

/** Returns the Dock if the user is a member of its organization, otherwise null. */
export async function findVisibleDock(db: Db, userId: string, id: string): Promise<VisibleDock | null> {
  return (
    (
      await sql<VisibleDock>`
      select ${dockColumns}, m.role, ${isDrivenByRun} as "isDriven", ${barsMembers} as "barsMembers" from docks d
      join memberships m on m.organization_id = d.organization_id and m.user_id = ${userId}
      where d.id = ${id}`.execute(db)
    ).rows[0] ?? null
  )
}

/** Returns the Dock, or null. For internal work without a caller: it checks no membership. */
export async function findDock(db: Db, organizationId: string, id: string): Promise<DockRow | null> {
  return (
    (
      await sql<DockRow>`select ${dockColumns} from docks d
      where d.id = ${id} and d.organization_id = ${organizationId}`.execute(db)
    ).rows[0] ?? null
  )
}

/** Page size of {@link listVisibleDocks}. */
const listPage = 200

/**
 * Yields the user's Docks in these states (null: all states), newest first. Each page is read when the consumer asks for
 * it. A Dock that is created during the iteration may be missing; none appears twice.
 */
export async function* listVisibleDocks(
  db: Db,
  userId: string,
  states: readonly DockState[] | null,
): AsyncGenerator<DockRow[]> {
  let last: DockRow | undefined
  do {
    const after = last ? sql`(d.created_at, d.id) < (${last.createdAt}, ${last.id}::uuid)` : sql`true`
    const { rows } = await sql<DockRow>`
      select ${dockColumns} from memberships m
      cross join lateral (select * from docks d where d.organization_id = m.organization_id and ${after}
        and ${states === null ? sql`true` : sql`d.state = any(${states})`}
        order by d.created_at desc, d.id desc limit ${listPage}) d
      where m.user_id = ${userId} order by d.created_at desc, d.id desc limit ${listPage}`.execute(db)
    if (rows.length > 0) yield rows
    last = rows.length < listPage ? undefined : rows.at(-1)
  } while (last)
}

/** Returns up to 50 Docks of all organizations whose ttl has run out and that no operation holds. */
export async function dueDocks(db: Db, now: Date): Promise<DockRow[]> {
  return (
    await sql<DockRow>`
      select ${dockColumns} from docks d
      where d.stop_at <= ${now} and d.state in (${readyStates})
        and not exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed')
      order by d.stop_at limit 50`.execute(db)
  ).rows
}

/**
 * Returns the number of Docks of an organization, and those that can be deleted now. At most `limit` Docks, including
 * those that an operation holds already, are in progress at a time.
 */
export async function docksOfOrganization(
  db: Db,
  organizationId: string,
  limit: number,
): Promise<{ count: number; free: DockRow[] }> {
  const active = sql`exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed'
    and not ${yieldsToDelete})`
  const counted = await sql<{ count: number; held: number }>`
    select count(*)::int as count, (count(*) filter (where ${active}))::int as held from docks d
    where d.organization_id = ${organizationId}`.execute(db)
  const { count, held } = counted.rows[0]!
  if (count === held || held >= limit) return { count, free: [] }
  const free = await sql<DockRow>`select ${dockColumns} from docks d
    where d.organization_id = ${organizationId} and not ${active}
    order by d.created_at limit ${limit - held}`.execute(db)
  return { count, free: free.rows }
}

/** Returns the earliest time at which a Dock is due to stop, or null. It is in the past if that Dock was not stopped yet. */
export async function nextStopAt(db: Db): Promise<Date | null> {
  return (
    (
      await sql<{ at: Date | null }>`select min(stop_at) as at from docks
      where stop_at is not null and state in (${readyStates})`.execute(db)
    ).rows[0]?.at ?? null
  )
}

/** Returns the operation if the user is a member of its organization, otherwise null. */
export async function findVisibleOperation(
  db: Db,
  userId: string,
  id: string,
): Promise<(Operation & { role: Role }) | null> {
  return (
    (
      await sql<Operation & { role: Role }>`
      select o.id, o.target_type as "targetType", o.target_id as "targetId", o.status, m.role
      from operations o
      join memberships m on m.organization_id = o.organization_id and m.user_id = ${userId}
      where o.id = ${id} and o.target_type <> 'run'`.execute(db)
    ).rows[0] ?? null
  )
}

export type CreateContext = {
  organizationId: string
  role: Role
  /** Null if the Environment does not exist. */
  binding: Binding | null
  keyFingerprint: Buffer | null
  keyDockId: string | null
  keyOperationActive: boolean | null
}

/**
 * Reads in one query everything a create needs: tenant, role, Environment and idempotency key. Returns null if the user
 * is not a member of the workspace's organization.
 */
export async function readCreateContext(
  db: Db,
  input: {
    userId: string
    workspaceId: string
    environment: string | null
    /** Version of the Environment; null or absent: its current version. */
    version?: number | null
    key: string | null
    keysSince: Date
  },
): Promise<CreateContext | null> {
  const row = (
    await sql<Omit<CreateContext, 'binding'> & (Binding | { environmentId: null })>`
      select w.organization_id as "organizationId", m.role, ${bindingColumns}, k.fingerprint as "keyFingerprint",
        k.dock_id as "keyDockId", o.status <> 'completed' as "keyOperationActive"
      from workspaces w
      join memberships m on m.organization_id = w.organization_id and m.user_id = ${input.userId}
      left join environments e on e.organization_id = w.organization_id and case
        when ${input.environment}::text is null then e.is_default
        else e.id::text = ${input.environment}::text or e.name = ${input.environment}::text end
      left join environment_versions v on v.environment_id = e.id and v.version = coalesce(${input.version ?? null}::int, e.current_version)
      left join idempotency_keys k on k.organization_id = w.organization_id and k.key = ${input.key}::text
        and k.created_at > ${input.keysSince}
      left join operations o on o.id = k.operation_id
      where w.id = ${input.workspaceId} order by e.id::text = ${input.environment}::text desc nulls last limit 1`.execute(
      db,
    )
  ).rows[0]
  if (!row) return null
  return { ...row, binding: row.environmentId === null ? null : row }
}

/**
 * Returns the Dock that a request with this key and fingerprint created, if the user is a member of its organization.
 * Otherwise null.
 */
export async function findDockOfKey(
  db: Db,
  input: { userId: string; key: string; keysSince: Date; fingerprint: Buffer },
): Promise<(VisibleDock & { isBeingMade: boolean }) | null> {
  return (
    (
      await sql<VisibleDock & { isBeingMade: boolean }>`
      select ${dockColumns}, m.role, ${isDrivenByRun} as "isDriven", ${barsMembers} as "barsMembers", o.status <> 'completed' as "isBeingMade"
      from idempotency_keys k
      join memberships m on m.organization_id = k.organization_id and m.user_id = ${input.userId}
      join docks d on d.id = k.dock_id and d.organization_id = k.organization_id
      join operations o on o.id = k.operation_id
      where k.key = ${input.key} and k.created_at > ${input.keysSince}
        and k.fingerprint = ${input.fingerprint}::bytea`.execute(db)
    ).rows[0] ?? null
  )
}

/** Returns all captures of a Dock's Snapshots on all hosts, whatever the Snapshots' status. */
export async function dockCaptures(
  db: Db,
  organizationId: string,
  dockId: string,
): Promise<{ id: string; hostId: string }[]> {
  return (
    await sql<{ id: string; hostId: string }>`
      select s.id, k.host_id as "hostId" from snapshots s
      cross join lateral (select s.host_id where s.host_id is not null
        union select r.host_id from snapshot_restores r where r.snapshot_id = s.id) k
      where s.dock_id = ${dockId} and s.organization_id = ${organizationId}`.execute(db)
  ).rows
}

/** Which Environments' contents a Dock may contain. */
export type DockPassing = {
  /** True if the Environment version with which it started passes anything. */
  envPasses: boolean
  /** Ids of the Environments whose files may be on its disk. */
  marks: string[]
}

/** Returns the Dock's {@link DockPassing}, or an empty one if the Dock does not exist. */
export async function findPassing(db: Db, dockId: string): Promise<DockPassing> {
  return (
    (
      await sql<DockPassing>`select env_passes as "envPasses", marks from docks where id = ${dockId}`.execute(
        db,
      )
    ).rows[0] ?? { envPasses: false, marks: [] }
  )
}
