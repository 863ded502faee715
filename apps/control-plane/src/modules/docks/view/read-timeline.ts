/** GET /api/dashboard/docks/:id/timeline */
import {
  type DockState,
  type DockTimeline,
  type RouteQuery,
  type routes,
  ServiceError,
  type TimelineEntry,
} from '@dock/contract'
import { sql } from 'kysely'
import type { Cause } from '../../../engine/index.ts'
import type { Visitor } from '../../accounts/index.ts'
import { type DockContext, requireDock } from '../dock-context.ts'

type Row = {
  /** Microseconds since 1970, as text. */
  moment: string
  at: Date
  kind: 'state' | 'memory'
  id: string
  fromState: DockState | null
  toState: DockState | null
  cause: Cause | null
  person: string | null
  process: string | null
  count: number | null
}

/** The position after an entry: its time in microseconds, its kind, and its id. */
const cursorPattern = /^(\d{1,18})\.(state|memory)\.(\d{1,18})$/

const placeOf = (cursor: string | undefined) => {
  if (cursor === undefined) return undefined
  const found = cursorPattern.exec(cursor)
  if (!found)
    throw new ServiceError('validation_error', {
      message: 'cursor: must be a nextCursor that this list returned',
    })
  return { moment: found[1]!, kind: found[2]!, id: found[3]! }
}

/** The parts of Dock that act by themselves, by the name that a cause has for them. */
const systemNames: Readonly<Record<string, string>> = {
  ttl: 'Auto-stop timer',
  activity: 'Activity timer',
  retention: 'Zero data retention',
  host: 'Host',
  operator: 'Operator',
}

const whoIn = ({ cause, person }: Row): TimelineEntry['by'] => {
  if (!cause) return { kind: 'system', name: systemNames.host! }
  if (cause.why === 'adopted' && person === null) return { kind: 'system', name: systemNames.operator! }
  if (cause.by.startsWith('user:')) return { kind: 'person', name: person ?? 'A former member' }
  return { kind: 'system', name: systemNames[cause.by] ?? cause.by }
}

const view = (row: Row): TimelineEntry => ({
  id: `${row.kind}-${row.id}`,
  at: row.at.toISOString(),
  kind: row.kind,
  fromState: row.fromState,
  toState: row.toState,
  by: whoIn(row),
  through: row.cause?.through ?? 'host',
  why: row.cause?.why ?? 'out_of_memory',
  process: row.process,
  count: row.count,
})

/**
 * Returns a page of what happened to a Dock, newest first. Throws `dock_not_found`. An instance admin who adopted its disk
 * has a name here only for their own organizations.
 */
export async function readDockTimeline(
  context: Pick<DockContext, 'db'>,
  caller: Visitor,
  id: string,
  query: RouteQuery<(typeof routes)['readDockTimeline']>,
): Promise<DockTimeline> {
  const place = placeOf(query.cursor)
  const dock = await requireDock(context, caller, id)
  const after = place
    ? sql`(e.moment, e.kind, e.id) < (${place.moment}::bigint, ${place.kind}::text, ${place.id}::bigint)`
    : sql`true`
  const moment = sql`(extract(epoch from at) * 1000000)::bigint`
  const { rows } = await sql<Row>`
    select e.moment::text, e.at, e.kind, e.id::text as id, e."fromState", e."toState", e.cause, e.process, e.count,
      u.name as person
    from (
      select ${moment} as moment, at, 'state' as kind, id, from_state as "fromState", to_state as "toState", cause,
        null as process, null::int as count
      from dock_state_changes where dock_id = ${id} and organization_id = ${dock.organizationId}
      union all select ${moment}, at, 'memory', id, null, null, null, process, count
      from dock_memory_shortages where dock_id = ${id}) e
    left join users u on e.cause ->> 'by' = 'user:' || u.id::text and u.erased_at is null
      and (e.cause ->> 'why' <> 'adopted' or exists (select 1 from memberships m
        where m.organization_id = ${dock.organizationId} and m.user_id = u.id))
    where ${after}
    order by e.moment desc, e.kind desc, e.id desc limit ${query.limit + 1}`.execute(context.db)
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  return {
    entries: shown.map(view),
    nextCursor: rows.length > query.limit && last ? `${last.moment}.${last.kind}.${last.id}` : null,
  }
}
