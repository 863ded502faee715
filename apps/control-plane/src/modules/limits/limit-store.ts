/** All SQL for the limits of organizations and for the usage that counts against them. */
import type { OrganizationLimitsChange } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { LimitName, Limits } from './organization-limits.ts'

const columnOf: Record<LimitName, string> = {
  docks: 'docks',
  cpus: 'cpus',
  memoryMiB: 'memory_mib',
  diskGiB: 'disk_gib',
  storedGiB: 'stored_gib',
  snapshots: 'snapshots',
  environments: 'environments',
  repositories: 'repositories',
  templates: 'templates',
  workspaces: 'workspaces',
}
const names = Object.keys(columnOf) as LimitName[]

/** Returns the id of the organization with this slug or id, or null. */
export async function findOrganizationId(db: Db, slugOrId: string): Promise<string | null> {
  return (
    (
      await sql<{ id: string }>`select id from organizations
      where (slug = ${slugOrId} or id::text = ${slugOrId}) and deleted_at is null`.execute(db)
    ).rows[0]?.id ?? null
  )
}

/** Returns the organization's own limits. A limit is null if the instance's default applies. */
export async function readOwnLimits(
  db: Db,
  organizationId: string,
): Promise<Record<LimitName, number | null>> {
  const columns = names.map((name) => sql`${sql.ref(columnOf[name])} as ${sql.ref(name)}`)
  const result = await sql<Record<LimitName, number | null>>`select ${sql.join(columns)}
    from organization_limits where organization_id = ${organizationId}`.execute(db)
  return result.rows[0] ?? (Object.fromEntries(names.map((name) => [name, null])) as Record<LimitName, null>)
}

/** Returns the effective limits: the organization's own limits, or the default. */
export async function readLimits(db: Db, organizationId: string, defaults: Limits): Promise<Limits> {
  const own = await readOwnLimits(db, organizationId)
  return Object.fromEntries(names.map((name) => [name, own[name] ?? defaults[name]])) as Limits
}

/**
 * Creates the organization's row and locks it until the transaction ends. Returns the organization's name, or null if it
 * does not exist.
 */
export async function lockOwnLimits(tx: Tx, organizationId: string): Promise<string | null> {
  const made = await sql<{ name: string }>`
    with organization as (select id, name from organizations where id = ${organizationId} and deleted_at is null),
    made as (insert into organization_limits (organization_id) select id from organization
      on conflict (organization_id) do update set organization_id = excluded.organization_id)
    select name from organization`.execute(tx)
  return made.rows[0]?.name ?? null
}

/** Sets limits of an organization. The caller has called {@link lockOwnLimits}. */
export async function changeOwnLimits(
  tx: Tx,
  organizationId: string,
  change: OrganizationLimitsChange,
): Promise<void> {
  const set: RawBuilder<unknown>[] = []
  for (const name of names)
    if (change[name] !== undefined) set.push(sql`${sql.ref(columnOf[name])} = ${change[name]}`)
  if (set.length > 0)
    await sql`update organization_limits set ${sql.join(set)} where organization_id = ${organizationId}`.execute(
      tx,
    )
}

/** Returns the organization's usage. `repositories` is the highest number in any of its Environments. */
export async function readUsage(db: Db, organizationId: string): Promise<Limits> {
  const result = await sql<Limits>`
    select d.docks, d.cpus, d."memoryMiB", d."diskGiB", coalesce(s.stored_bytes, 0) / 1073741824::float8 as "storedGiB", coalesce(s.snapshots, 0) as snapshots,
      (select count(*) from environments e where e.organization_id = o.id)::int as environments,
      coalesce((select max(jsonb_array_length(v.repositories)) from environments e
        join environment_versions v on v.environment_id = e.id and v.version = e.current_version
        where e.organization_id = o.id), 0) as repositories,
      (select count(distinct t.name) from templates t where t.organization_id = o.id and t.status <> 'failed')::int
        as templates,
      (select count(*) from workspaces w where w.organization_id = o.id)::int as workspaces
    from (values (${organizationId}::uuid)) as o(id)
    left join organization_storage s on s.organization_id = o.id
    cross join lateral (select count(*)::int as docks, coalesce(sum(cpus), 0) as cpus,
      coalesce(sum(memory_mib), 0) as "memoryMiB", coalesce(sum(disk_gib), 0) + (select coalesce(sum(disk_gib), 0)
        from docks where organization_id = o.id and has_disk and not placed) as "diskGiB"
      from (select cpus, memory_mib, disk_gib from docks where organization_id = o.id and placed
        union all select cpus, memory_mib, disk_gib from run_machines
          where organization_id = o.id and state <> 'ended') as l) as d`.execute(db)
  const usage = result.rows[0]!
  return { ...usage, storedGiB: Math.round(usage.storedGiB * 1000) / 1000 }
}

/** Deletes the storage counters of a removed organization. Returns 0, the number of counters left. */
export async function deleteStorageCounters(db: Db, organizationId: string): Promise<number> {
  await sql`delete from organization_storage where organization_id = ${organizationId}`.execute(db)
  return 0
}

/**
 * Returns the number of organizations that the user owns or created, except for `besides`. Locks the user's row, so
 * that concurrent counts run one after the other. Lock order: a transaction that also locks an organization locks it
 * first.
 */
export async function countOrganizationsOf(tx: Db, userId: string, besides: string | null): Promise<number> {
  await sql`select id from users where id = ${userId} for no key update`.execute(tx)
  const result = await sql<{ n: number }>`select count(*)::int as n from (
      select organization_id as id from memberships where user_id = ${userId} and role = 'owner'
      union select id from organizations where made_by = ${userId} and deleted_at is null) as theirs
    where id is distinct from ${besides}::uuid`.execute(tx)
  return result.rows[0]!.n
}

/**
 * Returns the number of Environments. Locks the organization's row, so that concurrent counts run one after the other.
 */
export async function countEnvironments(tx: Db, organizationId: string): Promise<number> {
  await sql`select id from organizations where id = ${organizationId} for no key update`.execute(tx)
  const result = await sql<{ n: number }>`select count(*)::int as n from environments
    where organization_id = ${organizationId}`.execute(tx)
  return result.rows[0]!.n
}

/** Returns the number of workspaces. The caller holds the lock on the organization's row. */
export async function countWorkspaces(tx: Db, organizationId: string): Promise<number> {
  const result = await sql<{ n: number }>`select count(*)::int as n from workspaces
    where organization_id = ${organizationId}`.execute(tx)
  return result.rows[0]!.n
}
