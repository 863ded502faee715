/** Reads of Docks. A query for a caller joins the caller's memberships: what others own is not found. */
import type { DockState, Operation, Role } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { DockRow, VisibleDock } from './dock.ts'
import { type Binding, barsMembers, bindingColumns } from './environment-gate.ts'
import { givesWay } from './yields-to-delete.ts'

/** Columns of a {@link DockRow}, of the table or alias `d`. */
export const dockColumns: RawBuilder<unknown> = sql`d.id, d.organization_id as "organizationId",
  d.workspace_id as "workspaceId", d.name, d.image, d.cpus, d.memory_mib as "memoryMiB", d.disk_gib as "diskGiB",
  d.runtime, d.state, d.state_changed_at as "stateChangedAt", d.generation, d.ttl_seconds as "ttlSeconds",
  d.environment, d.environment_id as "environmentId", d.environment_version as "environmentVersion", d.no_env as "noEnv", d.from_template as "fromTemplate", d.ip, d.host_id as "hostId",
  d.has_disk as "hasDisk", d.billing_paused_at as "billingPausedAt", d.setup_status as "setupStatus",
  d.setup_error as "setupError", d.last_snapshot_at as "lastSnapshotAt", d.recoveries, d.created_by as "createdBy",
  d.created_at as "createdAt", d.updated_at as "updatedAt"`

/** The Dock, if the user is a member of its organization. */
export async function findVisibleDock(db: Db, userId: string, id: string): Promise<VisibleDock | null> {
  return (
    (
      await sql<VisibleDock>`
      select ${dockColumns}, m.role, ${barsMembers} as "barsMembers" from docks d
      join memberships m on m.organization_id = d.organization_id and m.user_id = ${userId}
      where d.id = ${id}`.execute(db)
    ).rows[0] ?? null
  )
}

/** For the platform's own work, which acts for no caller: by id and organization. */
export async function findDock(db: Db, organizationId: string, id: string): Promise<DockRow | null> {
  return (
    (
      await sql<DockRow>`select ${dockColumns} from docks d
      where d.id = ${id} and d.organization_id = ${organizationId}`.execute(db)
    ).rows[0] ?? null
  )
}

/** Docks on a page of {@link listVisibleDocks}. */
const listPage = 200

/**
 * The user's Docks in these states, or in all when null; newest first, page by page, each read when it is asked for. A
 * Dock that is made meanwhile may be missing, none is there twice.
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

/** Docks whose ttl has run out. The instance's timer serves every tenant. */
export async function dueDocks(db: Db, now: Date): Promise<DockRow[]> {
  return (
    await sql<DockRow>`
      select ${dockColumns} from docks d
      where d.stop_at <= ${now} and d.state in ('ready', 'idle', 'running')
        and not exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed')
      order by d.stop_at limit 50`.execute(db)
  ).rows
}

/** How many Docks an organization has, and up to `limit` of them that no operation holds against a delete. */
export async function docksOfOrganization(
  db: Db,
  organizationId: string,
  limit: number,
): Promise<{ count: number; free: DockRow[] }> {
  const active = sql`exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed'
    and not ${givesWay})`
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

/** When the next ttl runs out, or did while its Dock could not be stopped. */
export async function nextStopAt(db: Db): Promise<Date | null> {
  return (
    (
      await sql<{ at: Date | null }>`select min(stop_at) as at from docks
      where stop_at is not null and state in ('ready', 'idle', 'running')`.execute(db)
    ).rows[0]?.at ?? null
  )
}

/** The operation, if the user is a member of the organization of the thing it changed. */
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
      where o.id = ${id}`.execute(db)
    ).rows[0] ?? null
  )
}

export type CreateContext = {
  organizationId: string
  role: Role
  /** Null where there is no such Environment. */
  binding: Binding | null
  keyFingerprint: Buffer | null
  keyDockId: string | null
  keyOperationActive: boolean | null
}

/** All that a create needs to know beforehand, in one query; null when the workspace is not the caller's. */
export async function readCreateContext(
  db: Db,
  input: {
    userId: string
    workspaceId: string
    environment: string | null
    /** Of the Environment; null: its current one. */
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

/** The Dock that this very request made under the key, if the user is a member of its organization. */
export async function findDockOfKey(
  db: Db,
  input: { userId: string; key: string; keysSince: Date; fingerprint: Buffer },
): Promise<(VisibleDock & { isBeingMade: boolean }) | null> {
  return (
    (
      await sql<VisibleDock & { isBeingMade: boolean }>`
      select ${dockColumns}, m.role, ${barsMembers} as "barsMembers", o.status <> 'completed' as "isBeingMade"
      from idempotency_keys k
      join memberships m on m.organization_id = k.organization_id and m.user_id = ${input.userId}
      join docks d on d.id = k.dock_id and d.organization_id = k.organization_id
      join operations o on o.id = k.operation_id
      where k.key = ${input.key} and k.created_at > ${input.keysSince}
        and k.fingerprint = ${input.fingerprint}::bytea`.execute(db)
    ).rows[0] ?? null
  )
}

/** Every capture that is kept for a Dock, on every host, whatever its Snapshot's status. */
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

/** What a Dock may hold of Environments. */
export type DockPassing = {
  /** What it started with passed something on. */
  envPasses: boolean
  /** The Environments whose files its disk may hold. */
  marks: string[]
}

export async function passingOfDock(db: Db, dockId: string): Promise<DockPassing> {
  return (
    (
      await sql<DockPassing>`select env_passes as "envPasses", marks from docks where id = ${dockId}`.execute(
        db,
      )
    ).rows[0] ?? { envPasses: false, marks: [] }
  )
}
