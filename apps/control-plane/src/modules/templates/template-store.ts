/** The only SQL for Templates. Queries for callers take the tenant. */
import { limits, type RuntimeName, type TemplateStatus } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { barsMembers, gate, hasConnectors, hasRow, moved } from '../docks/index.ts'
import { type Limits, requireRoomForTemplate } from '../limits/index.ts'

export type TemplateRow = {
  id: string
  organizationId: string
  name: string
  sourceDockId: string | null
  snapshotId: string | null
  status: TemplateStatus
  sizeBytes: number
  createdAt: Date
  updatedAt: Date
}

const columns = sql`t.id, t.organization_id as "organizationId", t.name, t.source_dock_id as "sourceDockId",
  t.snapshot_id as "snapshotId", t.status, t.size_bytes as "sizeBytes", t.created_at as "createdAt",
  t.updated_at as "updatedAt"`

export type ListedTemplateRow = TemplateRow & {
  createdBy: string | null
  creatorName: string | null
  sourceDockName: string | null
  image: string
  diskGiB: number
}

/** Like {@link listTemplateRows}, with who made each and from which Dock. */
export async function listTemplatesWithSource(db: Db, userId: string): Promise<ListedTemplateRow[]> {
  return (
    await sql<ListedTemplateRow>`select ${columns}, t.created_by as "createdBy", u.name as "creatorName",
        d.name as "sourceDockName", t.image, t.disk_gib as "diskGiB"
      from templates t
      join memberships m on m.organization_id = t.organization_id and m.user_id = ${userId}
      left join users u on u.id::text = t.created_by and u.erased_at is null
      left join docks d on d.id = t.source_dock_id and d.organization_id = t.organization_id
      order by t.created_at desc, t.id desc`.execute(db)
  ).rows
}

/** Returns all Templates of the person's organizations, newest first. */
export async function listTemplateRows(db: Db, userId: string): Promise<TemplateRow[]> {
  return (
    await sql<TemplateRow>`select ${columns} from templates t
      join memberships m on m.organization_id = t.organization_id and m.user_id = ${userId}
      join organizations o on o.id = t.organization_id
      order by t.created_at desc, t.id desc`.execute(db)
  ).rows
}

export async function findReadyTemplate(
  db: Db,
  organizationId: string,
  name: string,
): Promise<TemplateRow | null> {
  return (
    (
      await sql<TemplateRow>`select ${columns} from templates t
      where t.organization_id = ${organizationId} and t.name = ${name} and t.status = 'ready'`.execute(db)
    ).rows[0] ?? null
  )
}

export async function findTemplate(db: Db, organizationId: string, id: string): Promise<TemplateRow | null> {
  return (
    (
      await sql<TemplateRow>`select ${columns} from templates t
      where t.organization_id = ${organizationId} and t.id = ${id}`.execute(db)
    ).rows[0] ?? null
  )
}

/** Deletes the Templates of an organization, except those being saved. Returns how many are left. */
export async function removeTemplates(db: Db, organizationId: string): Promise<number> {
  await sql`delete from templates where organization_id = ${organizationId} and status <> 'saving'`.execute(
    db,
  )
  const left = await sql<{ count: number }>`
    select count(*)::int as count from templates where organization_id = ${organizationId}`.execute(db)
  return left.rows[0]?.count ?? 0
}

/** Deletes the Templates of all organizations with zero data retention, except those being saved. */
export async function wipeTemplates(db: Db): Promise<void> {
  await sql`delete from templates t using organizations o
    where o.id = t.organization_id and o.retention_enabled and t.status <> 'saving'`.execute(db)
}

/** Returns true if the Environment that a Dock started with gives it connectors. */
export async function hasDockConnectors(db: Db, dockId: string): Promise<boolean> {
  return (
    (
      await sql<{ has: boolean }>`select exists (
      select 1 from docks d
      join environment_versions v on v.environment_id = d.environment_id and v.version = d.environment_version
      where d.id = ${dockId} and not d.no_env and ${hasConnectors}) as has`.execute(db)
    ).rows[0]?.has ?? false
  )
}

/** The fields of a Template that a new Dock needs to start from it. */
export type TemplateSource = {
  name: string
  /** Null if the Snapshot no longer exists. */
  snapshotId: string | null
  hostId: string | null
  copied: boolean
  image: string
  diskGiB: number
  sizeBytes: number
  runtime: RuntimeName
  connectors: boolean
  sourceDockId: string | null
  /** Ids of Environments whose files may be on the disk. */
  marks: string[]
  barsMembers: boolean
}

/** Returns the ready Template of that name in the organization, with its Snapshot, or null. */
export async function findTemplateForCreate(
  db: Db,
  organizationId: string,
  name: string,
): Promise<TemplateSource | null> {
  return (
    (
      await sql<TemplateSource>`
      select t.name, s.id as "snapshotId", s.host_id as "hostId", s.copied_at is not null as copied, t.image,
        t.disk_gib as "diskGiB", coalesce(s.size_bytes, 0) as "sizeBytes", t.runtime, t.connectors, t.source_dock_id as "sourceDockId",
        coalesce(d.marks, '{}') as marks, coalesce(${barsMembers}, false) as "barsMembers"
      from templates t left join snapshots s on s.id = t.snapshot_id and s.status = 'completed'
      left join docks d on d.id = s.dock_id
      where t.organization_id = ${organizationId} and t.name = ${name} and t.status = 'ready'`.execute(db)
    ).rows[0] ?? null
  )
}

/**
 * Returns the error code if a Template of this name cannot be saved now, or null. Locks the organization, so that
 * concurrent saves are counted. Throws `conflict` with its own message at a limit that is set for the organization.
 */
export async function findSavingRefusal(
  tx: Tx,
  organizationId: string,
  name: string,
  defaults: Limits,
): Promise<'conflict' | 'template_limit_reached' | null> {
  await sql`select id from organizations where id = ${organizationId} for no key update`.execute(tx)
  const result = await sql<{ saving: boolean; others: number }>`
    select coalesce(bool_or(name = ${name} and status = 'saving'), false) as saving,
      (count(distinct name) filter (where name <> ${name} and status <> 'failed'))::int as others
    from templates where organization_id = ${organizationId}`.execute(tx)
  const { saving, others } = result.rows[0]!
  if (saving) return 'conflict'
  if (others >= limits.template.perOrganizationMax) return 'template_limit_reached'
  await requireRoomForTemplate(tx, organizationId, defaults, others)
  return null
}

export type NewTemplate = {
  id: string
  organizationId: string
  name: string
  sourceDockId: string
  snapshotId: string
  image: string
  diskGiB: number
  runtime: string
  connectors: boolean
  createdBy: string
  now: Date
}

/** SQL `name as (…)` that inserts the row if `moved`, the claim of its Dock, returned a row. */
export function insertTemplate(template: NewTemplate): RawBuilder<unknown> {
  return sql`template as (
  insert into templates (id, organization_id, name, source_dock_id, snapshot_id, status, image, disk_gib, runtime,
    connectors, created_by, created_at, updated_at)
  select ${template.id}::uuid, ${template.organizationId}::uuid, ${template.name}, ${template.sourceDockId}::uuid,
    ${template.snapshotId}::uuid, 'saving', ${template.image}, ${template.diskGiB}::int, ${template.runtime},
    ${template.connectors}::boolean, ${template.createdBy}, ${template.now}::timestamptz, ${template.now}::timestamptz from ${moved})`
}

/**
 * Two SQL `name as (…)`: delete the Template that has the name, then make this one ready. `sizeBytes` is null if the
 * Snapshot was completed earlier, otherwise the size with which the same statement completes it.
 */
export function publishTemplate(
  template: { id: string; organizationId: string; name: string; sizeBytes: number | null },
  now: Date,
): RawBuilder<unknown>[] {
  return [
    sql`replaced as (delete from templates where organization_id = ${template.organizationId}
    and name = ${template.name} and status <> 'saving' and ${hasRow(gate)} returning id)`,
    sql`published as (update templates t set status = 'ready', updated_at = ${now},
    size_bytes = coalesce(${template.sizeBytes}::bigint, (select size_bytes from snapshots where id = t.snapshot_id))
    where id = ${template.id} and ${hasRow(gate)} and (select count(*) from replaced) >= 0)`,
  ]
}

/** SQL `name as (…)` that marks a Template as failed. */
export function failTemplate(id: string, now: Date): RawBuilder<unknown> {
  return sql`failed as (update templates set status = 'failed', updated_at = ${now}
    where id = ${id} and ${hasRow(gate)})`
}
