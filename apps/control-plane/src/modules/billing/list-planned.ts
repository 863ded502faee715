/** GET /api/dashboard/plans */
import type { BillingPlan, PlannedOrganizationPage, RouteQuery, routes } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { decodePageCursor, encodePageCursor } from '../../database/page-cursor.ts'
import { listPlans } from './plan-store.ts'
import { readCurrentMonth } from './usage-store.ts'

type Query = RouteQuery<(typeof routes)['listPlannedOrganizations']>
type Row = PlannedOrganizationPage['organizations'][number] & { createdAt: Date }

/** Returns a page of all organizations of the instance, newest first, and the plans that they can be given. */
export async function listPlannedOrganizations(
  { db }: { db: Db },
  { q, cursor, limit }: Query,
): Promise<PlannedOrganizationPage> {
  const after = cursor === undefined ? null : decodePageCursor(cursor)
  const month = `${await readCurrentMonth(db)}-01`
  // The cursor has milliseconds, and the column microseconds.
  const { rows } = await sql<Row>`
    select o.id, o.name, o.slug, p.plan, coalesce(p.active and p.subscribed, false) as active,
      case when p.spent_month = ${month}::date then p.spent_micros else 0 end as "spentMicros",
      (select count(*)::int from docks d where d.organization_id = o.id and d.state <> 'archived') as "liveDocks",
      o.created_at as "createdAt"
    from organizations o left join organization_plans p on p.organization_id = o.id
    where o.deleted_at is null
      and (${q ?? null}::text is null or position(lower(${q ?? ''}) in lower(o.name)) > 0 or o.slug = ${q ?? ''})
      and (${after?.at ?? null}::timestamptz is null
        or (date_trunc('milliseconds', o.created_at), o.id) < (${after?.at ?? null}, ${after?.id ?? null}::uuid))
    order by date_trunc('milliseconds', o.created_at) desc, o.id desc limit ${limit + 1}`.execute(db)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const plans: BillingPlan[] = await listPlans(db)
  return {
    organizations: shown.map(({ createdAt: _, ...organization }) => organization),
    plans,
    nextCursor: rows.length > limit && last ? encodePageCursor({ at: last.createdAt, id: last.id }) : null,
  }
}
