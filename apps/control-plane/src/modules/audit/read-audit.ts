/** Reads the audit log: of one organization, or of the instance. */
import type { AuditEntry, AuditPage } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { decodePageCursor, encodePageCursor, type PagePlace } from '../../database/page-cursor.ts'

export type AuditFilter = {
  action?: string | undefined
  actorId?: string | undefined
  targetId?: string | undefined
  since?: string | undefined
  until?: string | undefined
}
/** Null: the whole instance. */
export type AuditScope = { organizationId: string | null }

type Row = {
  id: string
  at: Date
  organizationId: string | null
  organizationName: string | null
  action: string
  outcome: AuditEntry['outcome']
  actorId: string | null
  actorName: string | null
  actorEmail: string | null
  through: AuditEntry['through']
  credentialId: string | null
  address: string | null
  targetType: string | null
  targetId: string | null
  targetName: string | null
  details: AuditEntry['details']
}

const rowsOfExport = 1_000

const view = (row: Row): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  organizationId: row.organizationId,
  organizationName: row.organizationName,
  action: row.action as AuditEntry['action'],
  outcome: row.outcome,
  actor: row.actorId === null ? null : { id: row.actorId, name: row.actorName, email: row.actorEmail },
  through: row.through,
  credentialId: row.credentialId,
  address: row.address,
  target: row.targetType === null ? null : { type: row.targetType, id: row.targetId, name: row.targetName },
  details: row.details,
})

const conditions = (scope: AuditScope, filter: AuditFilter, after: PagePlace | null): RawBuilder<unknown> => {
  const { action, actorId, targetId, since, until } = filter
  const all = [
    scope.organizationId === null ? sql`not e.is_copy` : sql`e.organization_id = ${scope.organizationId}`,
    ...(after ? [sql`(e.at, e.id) < (${after.at}::timestamptz, ${after.id}::uuid)`] : []),
    ...(action === undefined
      ? []
      : [
          action.includes('.')
            ? sql`e.action = ${action}`
            : sql`e.action like ${`${action.replaceAll('_', '\\_')}.%`}`,
        ]),
    ...(actorId === undefined ? [] : [sql`e.actor_id = ${actorId}`]),
    ...(targetId === undefined ? [] : [sql`e.target_id = ${targetId}`]),
    ...(since === undefined ? [] : [sql`e.at >= ${new Date(since)}::timestamptz`]),
    ...(until === undefined ? [] : [sql`e.at < ${new Date(until)}::timestamptz`]),
  ]
  return sql.join(all, sql` and `)
}

const readRows = async (
  db: Db,
  scope: AuditScope,
  filter: AuditFilter,
  after: PagePlace | null,
  limit: number,
): Promise<Row[]> => {
  const { rows } = await sql<Row>`
    select e.id, e.at, e.organization_id as "organizationId", o.name as "organizationName", e.action, e.outcome, e.actor_id as "actorId",
      u.name as "actorName", u.email as "actorEmail", e.through, e.credential_id as "credentialId", e.address,
      e.target_type as "targetType", e.target_id as "targetId", coalesce(p.name, e.target_name) as "targetName", e.details
    from audit_entries e
    left join organizations o on o.id = e.organization_id and o.deleted_at is null
    left join users u on u.id = e.actor_id and u.erased_at is null
    left join users p on e.target_type = 'person' and p.id::text = e.target_id and p.erased_at is null
    where ${conditions(scope, filter, after)}
    order by e.at desc, e.id desc limit ${limit}`.execute(db)
  return rows
}

/** Returns a page of entries, newest first. Throws `validation_error` for a cursor that is none. */
export async function listAudit(
  db: Db,
  scope: AuditScope,
  query: AuditFilter & { limit: number; cursor?: string | undefined },
): Promise<AuditPage> {
  const after = query.cursor === undefined ? null : decodePageCursor(query.cursor)
  const rows = await readRows(db, scope, query, after, query.limit + 1)
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  return {
    entries: shown.map(view),
    nextCursor: rows.length > query.limit && last ? encodePageCursor(last) : null,
  }
}

/** Returns all entries as JSON lines, newest first. It keeps one page in memory. */
export async function* exportAudit(db: Db, scope: AuditScope, filter: AuditFilter): AsyncGenerator<Buffer> {
  for (let after: PagePlace | null = null; ; ) {
    const rows: Row[] = await readRows(db, scope, filter, after, rowsOfExport)
    if (rows.length > 0) yield Buffer.from(rows.map((row) => `${JSON.stringify(view(row))}\n`).join(''))
    if (rows.length < rowsOfExport) return
    after = rows.at(-1)!
  }
}
