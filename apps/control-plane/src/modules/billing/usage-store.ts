/** All SQL of usage: spans, closed days, and what the current month has cost. Triggers write the spans (migration 055). */
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../database/database.ts'
import { batchRows, deleteInBatches } from '../../database/delete-in-batches.ts'

/** Whole numbers in decimal digits: microseconds times vCPU, MiB, GiB and byte. */
export type Amounts = {
  vcpuUs: string
  memoryMiBUs: string
  diskGiBUs: string
  snapshotByteUs: string
}

export type UsageDay = Amounts & {
  day: string
  closed: boolean
  currency: string | null
  costMicros: number
}

const amounts = sql`vcpu_us as "vcpuUs", memory_mib_us as "memoryMiBUs", disk_gib_us as "diskGiBUs",
  snapshot_byte_us as "snapshotByteUs"`

/** Closed spans are kept for this long, so that a day of the ledger can be counted again. */
const spansKeptDays = 90
/** How long the ledger keeps what each Dock used. What the organization used stays. */
const dockDaysKept = 400

/** A moment of the database: every span that began or ended before `at` is written by a transaction before `xid`. */
export type Horizon = { at: Date; xid: string }

/**
 * Returns the current moment. The time is read first: transactions that begin in between are after `at`. The query takes
 * a transaction id of its own, because a snapshot's xmax only follows the last transaction that has *ended*: newer ones
 * that are under way would not be waited for.
 */
export async function readHorizon(db: Db): Promise<Horizon> {
  const { at } = (await sql<{ at: Date }>`select metering_now() as at`.execute(db)).rows[0]!
  const { xid } = (await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(db)).rows[0]!
  return { at, xid }
}

/** Returns true if all transactions that may write spans from before the horizon have ended. */
export async function isSettled(db: Db, { xid }: Horizon): Promise<boolean> {
  const result = await sql<{ settled: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) >= ${xid}::xid8 as settled`.execute(db)
  return result.rows[0]!.settled
}

/**
 * Closes the next day of the ledger, for all organizations in one transaction. Returns false if that day has not ended
 * before `settledUntil`.
 */
export function closeNextDay(db: Db, settledUntil: Date): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    const next = await sql<{ day: string }>`select closed_until::text as day from ledger_calendar
      where day_start(closed_until + 1) <= ${settledUntil} for update`.execute(tx)
    const day = next.rows[0]?.day
    if (day === undefined) return false
    await sql`insert into ledger_docks (day, organization_id, dock_id, vcpu_us, memory_mib_us, disk_gib_us, snapshot_byte_us)
      select ${day}::date, u.organization_id, u.dock_id, u.vcpu_us, u.memory_mib_us, u.disk_gib_us,
        u.snapshot_byte_us from usage_of_all(day_start(${day}::date), day_start(${day}::date + 1)) u`.execute(
      tx,
    )
    await sql`insert into ledger_days (organization_id, day, vcpu_us, memory_mib_us, disk_gib_us, snapshot_byte_us,
        plan, currency, prices, cost_micros, closed_at)
      select u.organization_id, ${day}::date, u.vcpu_us, u.memory_mib_us, u.disk_gib_us, u.snapshot_byte_us,
        p.name, p.currency, case when p.name is not null then jsonb_build_object('vcpuSecond', p.vcpu_second,
          'memoryGiBSecond', p.memory_gib_second, 'diskGiBMonth', p.disk_gib_month,
          'snapshotGiBMonth', p.snapshot_gib_month) end,
        usage_cost(${day}::date, u.vcpu_us, u.memory_mib_us, u.disk_gib_us, u.snapshot_byte_us, p), metering_now()
      from (select organization_id, sum(vcpu_us) as vcpu_us, sum(memory_mib_us) as memory_mib_us,
          sum(disk_gib_us) as disk_gib_us, sum(snapshot_byte_us) as snapshot_byte_us
        from ledger_docks where day = ${day}::date group by organization_id) as u
      left join organization_plans o on o.organization_id = u.organization_id
      left join plans p on p.name = o.plan`.execute(tx)
    await sql`update ledger_calendar set closed_until = ${day}::date + 1`.execute(tx)
    return true
  })
}

/** SQL of the open days of a month, with usage until now. Columns as `ledger_days`; `organization` may be null for all. */
const openDays = (organizationId: string | null, dockId: string | null, month: string) => sql`
  select u.organization_id, d.day::date as day, sum(u.vcpu_us) as vcpu_us, sum(u.memory_mib_us) as memory_mib_us,
    sum(u.disk_gib_us) as disk_gib_us, sum(u.snapshot_byte_us) as snapshot_byte_us
  from ledger_calendar c, generate_series(greatest(c.closed_until, ${month}::date)::timestamp,
      least(metering_day()::timestamp, ${month}::date + interval '1 month' - interval '1 day'), interval '1 day') as d(day),
    lateral ${organizationId === null ? sql`usage_of_all(` : sql`usage_of(${organizationId}::uuid, `}
      day_start(d.day::date), least(day_start(d.day::date + 1), metering_now())) as u
  where ${dockId}::uuid is null or u.dock_id = ${dockId}::uuid
  group by u.organization_id, d.day`

/** Returns the current month in UTC, as `YYYY-MM`. */
export async function readCurrentMonth(db: Db): Promise<string> {
  const found = await sql<{ month: string }>`select to_char(metering_day(), 'YYYY-MM') as month`.execute(db)
  return found.rows[0]!.month
}

/** Returns what an organization, or one of its Docks, used on each day of a month. `month` is its first day. */
export async function readUsageDays(
  db: Db,
  organizationId: string,
  month: string,
  dockId: string | null,
): Promise<{ closedUntil: string; days: UsageDay[] }> {
  // A Dock's part is priced as the organization's day was: with the prices that its row kept.
  const closed = dockId
    ? sql`select l.day, l.vcpu_us, l.memory_mib_us, l.disk_gib_us, l.snapshot_byte_us, o.currency,
        coalesce(usage_cost(l.day, l.vcpu_us, l.memory_mib_us, l.disk_gib_us, l.snapshot_byte_us,
          jsonb_populate_record(null::plans, jsonb_build_object('vcpu_second', o.prices -> 'vcpuSecond',
            'memory_gib_second', o.prices -> 'memoryGiBSecond', 'disk_gib_month', o.prices -> 'diskGiBMonth',
            'snapshot_gib_month', o.prices -> 'snapshotGiBMonth'))), 0) as cost
      from ledger_docks l join ledger_days o on o.organization_id = l.organization_id and o.day = l.day
      where l.organization_id = ${organizationId} and l.dock_id = ${dockId}`
    : sql`select l.day, l.vcpu_us, l.memory_mib_us, l.disk_gib_us, l.snapshot_byte_us, l.currency,
        l.cost_micros as cost
      from ledger_days l where l.organization_id = ${organizationId}`
  const found = await sql<UsageDay>`
    select to_char(a.day, 'YYYY-MM-DD') as day, a.closed, a.currency, a.cost as "costMicros", ${amounts} from (
      select l.*, true as closed from (${closed}) as l
        where l.day >= ${month}::date and l.day < ${month}::date + interval '1 month'
      union all
      select d.day, d.vcpu_us, d.memory_mib_us, d.disk_gib_us, d.snapshot_byte_us, p.currency,
        usage_cost(d.day, d.vcpu_us, d.memory_mib_us, d.disk_gib_us, d.snapshot_byte_us, p), false
      from (${openDays(organizationId, dockId, month)}) as d
      left join organization_plans o on o.organization_id = d.organization_id left join plans p on p.name = o.plan
    ) as a order by a.day`.execute(db)
  const calendar = await sql<{ closedUntil: string }>`
    select closed_until::text as "closedUntil" from ledger_calendar`.execute(db)
  return { closedUntil: calendar.rows[0]!.closedUntil, days: found.rows }
}

/** Saves what the current month has cost so far, for one organization or all. The gate of starts compares it. */
export async function refreshSpent(db: Db, organizationId: string | null): Promise<void> {
  const first = `${await readCurrentMonth(db)}-01`
  await sql`
    with open as (${openDays(organizationId, null, first)}),
    cost as (select o.organization_id,
        coalesce((select sum(l.cost_micros) from ledger_days l where l.organization_id = o.organization_id
          and l.day >= ${first}::date and l.day < ${first}::date + interval '1 month'), 0)
        + coalesce((select sum(usage_cost(d.day, d.vcpu_us, d.memory_mib_us, d.disk_gib_us, d.snapshot_byte_us, p))
          from open d where d.organization_id = o.organization_id), 0) as micros
      from organization_plans o join plans p on p.name = o.plan
      where ${organizationId}::uuid is null or o.organization_id = ${organizationId}::uuid)
    update organization_plans o set spent_month = ${first}::date, spent_micros = c.micros from cost c
    where o.organization_id = c.organization_id
      and (o.spent_month, o.spent_micros) is distinct from (${first}::date, c.micros)`.execute(db)
}

/** Deletes spans and Docks' days that are old, and only of closed days. */
export async function pruneUsage(db: Db): Promise<void> {
  await deleteInBatches(
    db,
    sql`delete from usage_spans where id in (select s.id from usage_spans s, ledger_calendar c
      where s.until_at < day_start(c.closed_until - ${spansKeptDays}::int) limit ${batchRows})`,
  )
  await deleteInBatches(
    db,
    sql`delete from ledger_docks where ctid in (select l.ctid from ledger_docks l, ledger_calendar c
      where l.day < c.closed_until - ${dockDaysKept}::int limit ${batchRows})`,
  )
}

/** Deletes the spans, the ledger and the account of a removed organization. Returns 1 if rows are left. */
export async function removeUsageRows(db: Db, organizationId: string): Promise<number> {
  const own = sql`where organization_id = ${organizationId} limit ${batchRows}`
  const areGone = [
    await deleteInBatches(db, sql`delete from usage_spans where id in (select id from usage_spans ${own})`),
    await deleteInBatches(
      db,
      sql`delete from ledger_docks where ctid in (select ctid from ledger_docks ${own})`,
    ),
  ]
  await sql`delete from ledger_days where organization_id = ${organizationId}`.execute(db)
  await sql`delete from ledger_reports where organization_id = ${organizationId}`.execute(db)
  await sql`delete from billing_accounts where organization_id = ${organizationId}`.execute(db)
  return areGone.every(Boolean) ? 0 : 1
}
