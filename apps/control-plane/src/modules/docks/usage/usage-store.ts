/** All SQL for usage: one row per Dock and minute in daily partitions, and the disk marks of Docks. */
import type { AlertType } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { columnList } from '../../../database/columns.ts'
import type { Db } from '../../../database/database.ts'
import { type UsageMetric, type UsageTotal, usageMetrics } from './usage-total.ts'

const dayMs = 86_400_000

const columnOf: Record<UsageMetric, string> = {
  cpuPercent: 'cpu_percent',
  memBytes: 'mem_bytes',
  memLimit: 'mem_limit',
  diskBytes: 'disk_bytes',
  rxBytes: 'rx_bytes',
  txBytes: 'tx_bytes',
}

export type UsageMinute = { dockId: string; minute: Date; total: UsageTotal }

const partitionOf = (day: Date): string => `dock_usage_${day.toISOString().slice(0, 10).replaceAll('-', '')}`

/** Creates the partition of a day, and drops partitions older than the day before. */
export async function prepareUsageDay(db: Db, day: Date): Promise<void> {
  const from = sql.lit(day.toISOString())
  const to = sql.lit(new Date(day.getTime() + dayMs).toISOString())
  await sql`create table if not exists ${sql.table(partitionOf(day))}
    partition of dock_usage for values from (${from}) to (${to})`.execute(db)
  const kept = partitionOf(new Date(day.getTime() - dayMs))
  const old = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'dock_usage'::regclass and c.relname < ${kept}`.execute(db)
  for (const { name } of old.rows) await sql`drop table if exists ${sql.table(name)}`.execute(db)
}

/** Writes minutes of many Docks in one statement. The partition of their day must exist. */
export async function saveUsage(db: Db, minutes: readonly UsageMinute[]): Promise<void> {
  const rows = minutes.map(({ dockId, minute, total }) => ({
    dock_id: dockId,
    minute: minute.toISOString(),
    samples: total.samples,
    ...Object.fromEntries(
      usageMetrics.flatMap((metric) => [
        [`${columnOf[metric]}_sum`, total.sum[metric]],
        [`${columnOf[metric]}_peak`, total.peak[metric]],
      ]),
    ),
  }))
  await sql`insert into dock_usage (${columnList('dock_usage')}) select ${columnList('dock_usage')}
    from jsonb_populate_recordset(null::dock_usage, ${JSON.stringify(rows)}::jsonb)`.execute(db)
}

/** Returns the Dock's total usage since `since`. Checks no permissions. */
export async function readUsage(db: Db, dockId: string, since: Date): Promise<UsageTotal> {
  const object = (ending: '_sum' | '_peak', aggregate: 'sum' | 'max'): RawBuilder<unknown> =>
    sql`json_build_object(${sql.join(
      usageMetrics.map(
        (metric) =>
          sql`${sql.lit(metric)}, coalesce(${sql.raw(aggregate)}(${sql.ref(columnOf[metric] + ending)}), 0)`,
      ),
      sql`, `,
    )})`
  const result = await sql<UsageTotal>`
    select coalesce(sum(samples), 0)::int as samples, ${object('_sum', 'sum')} as sum, ${object('_peak', 'max')} as peak
    from dock_usage where dock_id = ${dockId} and minute >= ${since}`.execute(db)
  return result.rows[0]!
}

export type UsageStep = { at: Date } & Record<UsageMetric, number>

/** Returns the averages of steps of `stepSeconds` since `since`, oldest first. Checks no permissions. */
export async function readUsageSteps(
  db: Db,
  dockId: string,
  since: Date,
  stepSeconds: number,
): Promise<UsageStep[]> {
  const averages = usageMetrics.map((metric) => {
    const sum = sql.ref(`${columnOf[metric]}_sum`)
    return sql`sum(${sum}) / greatest(sum(samples), 1) as ${sql.ref(metric)}`
  })
  const { rows } = await sql<UsageStep>`
    select to_timestamp(floor(extract(epoch from minute) / ${stepSeconds}::int) * ${stepSeconds}::int) as at,
      ${sql.join(averages, sql`, `)}
    from dock_usage where dock_id = ${dockId} and minute >= ${since} group by 1 order by 1`.execute(db)
  return rows
}

/** CTE `usage` for the statement that deletes a Dock. */
export function deleteUsage(dockId: string): RawBuilder<unknown> {
  return sql`usage as (delete from dock_usage where dock_id = ${dockId})`
}

/** Returns the generations of those of the Docks that are on this host. */
export async function readGenerations(
  db: Db,
  hostId: string,
  dockIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; generation: number }>`select id, generation from docks
    where host_id = ${hostId} and id = any(${dockIds}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, generation }) => [id, generation]))
}

export type DiskAlert = Extract<AlertType, 'disk_warning' | 'disk_full'>
export type DiskMark = { dockId: string; organizationId: string; name: string; alert: DiskAlert | null }

/** Returns the disk marks of those of the Docks that are on this host. */
export async function readDiskMarks(db: Db, hostId: string, dockIds: readonly string[]): Promise<DiskMark[]> {
  return (
    await sql<DiskMark>`select id as "dockId", organization_id as "organizationId", name, disk_alert as alert
      from docks where host_id = ${hostId} and id = any(${dockIds}::uuid[])`.execute(db)
  ).rows
}

/** Changes a Dock's disk mark if it is still as it was read. `also` holds further CTEs of the same statement. */
export async function saveDiskMark(
  db: Db,
  before: DiskMark,
  alert: DiskAlert | null,
  also: readonly RawBuilder<unknown>[],
): Promise<void> {
  const moved = sql`moved as (update docks set disk_alert = ${alert} where id = ${before.dockId}
    and organization_id = ${before.organizationId} and disk_alert is not distinct from ${before.alert} returning id)`
  await sql`with ${sql.join([moved, ...also], sql`, `)} select 1`.execute(db)
}
