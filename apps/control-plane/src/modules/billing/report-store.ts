/** All SQL of what was reported to the payment company. */
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { identifiersKnownMs } from './provider.ts'

export type PendingReport = {
  organizationId: string
  customerId: string
  day: string
  /** The last second of the day. */
  at: Date
  costMicros: number
  /** True if an earlier answer was lost. */
  isRepeated: boolean
  /** True if that was so long ago that the company may count a repeated identifier again. */
  isForgotten: boolean
}

/** Companies accept usage of the last 35 days. */
const reportableDays = 34

/** SQL of the days of the ledger, `l`, that the organization of account `a` must pay for and that were not reported. */
const pending = sql`ledger_days l join billing_accounts a on a.organization_id = l.organization_id
  left join ledger_reports r on r.organization_id = l.organization_id and r.day = l.day
  where l.cost_micros > 0 and l.day >= (a.created_at at time zone 'UTC')::date
    and l.day >= metering_day() - ${reportableDays}::int and coalesce(r.state, 'sending') = 'sending'`

/** Returns days to report, oldest first, after the given one. */
export async function listPendingReports(
  db: Db,
  most: number,
  after: Pick<PendingReport, 'day' | 'organizationId'> | undefined,
): Promise<PendingReport[]> {
  const found = await sql<PendingReport>`
    select l.organization_id as "organizationId", a.customer_id as "customerId", l.day::text as day,
      day_start(l.day + 1) - interval '1 second' as at, l.cost_micros as "costMicros",
      r.day is not null as "isRepeated", coalesce(r.first_tried_at
        < metering_now() - make_interval(secs => ${identifiersKnownMs / 1000}::int), false) as "isForgotten"
    from ${pending} and a.customer_id is not null
      and (${after === undefined} or (l.day, l.organization_id) > (${after?.day ?? null}::date, ${after?.organizationId ?? null}::uuid))
    order by l.day, l.organization_id limit ${most}`.execute(db)
  return found.rows
}

/** Returns true if the organization has usage that is not reported yet, or whose day is not closed yet. */
export async function hasPendingUsage(db: Db, organizationId: string): Promise<boolean> {
  const found = await sql<{ pending: boolean }>`
    select exists (select 1 from ${pending} and l.organization_id = ${organizationId})
      or exists (select 1 from usage_spans s, ledger_calendar c, organization_plans p
        where s.organization_id = ${organizationId} and p.organization_id = s.organization_id
          and s.until_at > day_start(c.closed_until)) as pending`.execute(db)
  return found.rows[0]!.pending
}

/** Saves, before it is sent, that a report may have been sent. */
export async function beginReport(
  db: Db,
  { organizationId, day }: Pick<PendingReport, 'organizationId' | 'day'>,
): Promise<void> {
  await sql`insert into ledger_reports (organization_id, day, state, first_tried_at)
    values (${organizationId}, ${day}::date, 'sending', metering_now()) on conflict do nothing`.execute(db)
}

/** `unclear`: the company counted something else, and nothing is sent again. */
export async function endReport(
  db: Db,
  { organizationId, day }: Pick<PendingReport, 'organizationId' | 'day'>,
  state: 'sent' | 'unclear',
): Promise<void> {
  await sql`update ledger_reports set state = ${state}
    where organization_id = ${organizationId} and day = ${day}::date`.execute(db)
}

/** Deletes a report that was certainly not counted. */
export async function dropReport(
  db: Db,
  { organizationId, day }: Pick<PendingReport, 'organizationId' | 'day'>,
): Promise<void> {
  await sql`delete from ledger_reports where organization_id = ${organizationId} and day = ${day}::date`.execute(
    db,
  )
}
