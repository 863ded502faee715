/** GET /api/dashboard/docks */
import type { DockSearchPage, RouteQuery, routes } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { decodePageCursor, encodePageCursor } from '../../../database/page-cursor.ts'
import type { Caller } from '../../accounts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { dockColumns } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { viewDock } from './dock-view.ts'

type SearchQuery = RouteQuery<(typeof routes)['searchDocks']>

type FoundDock = DockRow & { creatorName: string | null; stopAt: Date | null }

/** Escapes the wildcards of `like`. */
const literalPattern = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

const conditionsOf = (query: SearchQuery): RawBuilder<unknown> => {
  const { q, states, ids, organizationId, workspaceId, environmentId, createdBy, cursor } = query
  const conditions: RawBuilder<unknown>[] = [sql`true`]
  if (q) conditions.push(sql`(d.name ilike ${`%${literalPattern(q)}%`} or d.id::text = ${q.toLowerCase()})`)
  if (states) conditions.push(sql`d.state = any(${states.split(',')})`)
  if (ids) conditions.push(sql`d.id = any(${ids.split(',')}::uuid[])`)
  if (organizationId) conditions.push(sql`d.organization_id = ${organizationId}`)
  if (workspaceId) conditions.push(sql`d.workspace_id = ${workspaceId}`)
  if (environmentId) conditions.push(sql`d.environment_id = ${environmentId}`)
  if (createdBy) conditions.push(sql`d.created_by = ${createdBy}`)
  if (cursor !== undefined) {
    const { at, id } = decodePageCursor(cursor)
    // The cursor has milliseconds, and the column microseconds.
    conditions.push(sql`(date_trunc('milliseconds', d.created_at), d.id) < (${at}, ${id}::uuid)`)
  }
  return sql.join(conditions, sql` and `)
}

/** Returns a page of the Docks of the caller's organizations that match the query, newest first. */
export async function searchDocks(
  { db }: Pick<DockContext, 'db'>,
  caller: Caller,
  query: SearchQuery,
): Promise<DockSearchPage> {
  const { rows } = await sql<FoundDock>`
    select ${dockColumns}, u.name as "creatorName", d.stop_at as "stopAt" from docks d
    join memberships m on m.organization_id = d.organization_id and m.user_id = ${caller.userId}
    left join users u on u.id::text = d.created_by and u.erased_at is null
    where ${conditionsOf(query)}
    order by date_trunc('milliseconds', d.created_at) desc, d.id desc limit ${query.limit + 1}`.execute(db)
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  return {
    docks: shown.map((row) => ({
      ...viewDock(row),
      organizationId: row.organizationId,
      createdBy: row.creatorName === null ? null : { id: row.createdBy, name: row.creatorName },
      stopAt: row.stopAt?.toISOString() ?? null,
      environmentId: row.environmentId,
      environmentVersion: row.environmentVersion,
    })),
    nextCursor:
      rows.length > query.limit && last ? encodePageCursor({ at: last.createdAt, id: last.id }) : null,
  }
}
