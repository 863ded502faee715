/**
 * All SQL for the live stream. A cursor is a snapshot of transactions as PostgreSQL writes it (`xmin:xmax:running`). A
 * row is new for a cursor if its transaction is not visible in that snapshot. Ids alone would skip rows: a transaction
 * may commit after one that took a later id.
 */
import type { LiveChange } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** A change, and the connected people who may see it. */
export type SeenChange = LiveChange & { userIds: string[] }

export type Batch = {
  cursor: string
  changes: SeenChange[]
  /** True if there were more changes than one batch holds, or rows since `after` were deleted: pages must load again. */
  isIncomplete: boolean
}

const cursorPattern = /^\d{1,20}:\d{1,20}:[\d,]{0,2400}$/
/** Changes in one batch. Pages that missed more load everything again. */
const batchMax = 2_000

const transactionMax = 2n ** 63n

/** Returns true if PostgreSQL would accept the text as a snapshot: `xmin:xmax:` and ascending ids between both. */
export function isCursor(text: string): boolean {
  if (!cursorPattern.test(text)) return false
  const [xmin, xmax, running] = text.split(':') as [string, string, string]
  const ids = running === '' ? [] : running.split(',')
  if (ids.includes('')) return false
  const all = [BigInt(xmin), ...ids.map(BigInt), BigInt(xmax)]
  const isOrdered = ids.map(BigInt).every((id, at, each) => at === 0 || each[at - 1]! < id)
  return (
    all[0]! > 0n &&
    all.at(-1)! < transactionMax &&
    all[0]! <= all.at(-1)! &&
    isOrdered &&
    all.slice(1, -1).every((id) => id >= all[0]! && id < all.at(-1)!)
  )
}

/** Returns the cursor of now: everything committed so far is visible in it. */
export async function readCursor(db: Db): Promise<string> {
  const { rows } = await sql<{ cursor: string }>`select pg_current_snapshot()::text as cursor`.execute(db)
  return rows[0]!.cursor
}

/**
 * Returns the changes committed since `after`, of those whom `userIds` name, and the cursor that includes them. With
 * `until`, returns only changes that are visible in that cursor. `adminIds` are instance admins. They learn of a
 * change of hosts when any Dock changes, because the pages of hosts list the Docks of all organizations.
 */
export async function readChanges(
  db: Db,
  request: {
    after: string
    until?: string
    userIds: readonly string[]
    adminIds: readonly string[]
  },
): Promise<Batch> {
  const { after, until, userIds, adminIds } = request
  const since = sql`${after}::pg_snapshot`
  const isNew = sql`c.transaction_id >= pg_snapshot_xmin(${since})
    and not pg_visible_in_snapshot(c.transaction_id, ${since})
    and ${until === undefined ? sql`true` : sql`pg_visible_in_snapshot(c.transaction_id, ${until}::pg_snapshot)`}`
  const { rows } = await sql<{
    cursor: string
    isIncomplete: boolean
    changes: SeenChange[]
  }>`
    with fresh as materialized (select * from live_changes c where ${isNew} order by c.id limit ${batchMax + 1}),
    seen as (
      select c.id, c.kind, c.subject_id, c.organization_id, c.dock_id, p.user_id from fresh c
        cross join unnest(${userIds}::uuid[]) as p(user_id)
        join memberships m on m.organization_id = c.organization_id and m.user_id = p.user_id
        where not c.for_admins or m.role in ('admin', 'owner')
      union all select c.id, c.kind, c.subject_id, null, null, c.user_id from fresh c
        where c.user_id = any(${userIds}::uuid[])
      union all select c.id, c.kind, c.subject_id, null, null, a.user_id from fresh c
        cross join unnest(${adminIds}::uuid[]) as a(user_id)
        where c.organization_id is null and c.user_id is null
      union all select c.id, 'host', '', null, null, a.user_id from fresh c
        cross join unnest(${adminIds}::uuid[]) as a(user_id) where c.kind = 'dock'),
    grouped as (
      select kind, subject_id as id, organization_id as "organizationId", dock_id as "dockId",
        array_agg(distinct user_id) as "userIds", min(id) as first from seen group by 1, 2, 3, 4)
    select coalesce(${until ?? null}::text, pg_current_snapshot()::text) as cursor,
      (select count(*) > ${batchMax} from fresh)
        or exists (select 1 from live_pruned p where not pg_visible_in_snapshot(p.transaction_id, ${since}))
        or pg_snapshot_xmax(${since}) > pg_snapshot_xmax(pg_current_snapshot()) as "isIncomplete",
      coalesce((select json_agg(json_build_object('kind', kind, 'id', id, 'organizationId', "organizationId",
        'dockId', "dockId", 'userIds', "userIds") order by first) from grouped), '[]') as changes`.execute(db)
  return rows[0]!
}

/** Returns the positions of the holders whose session still works and whose account is open. */
export async function findValidSessions(
  db: Db,
  holders: readonly { userId: string; credentialId: string }[],
  now: Date,
): Promise<Set<number>> {
  const { rows } = await sql<{ at: number }>`
    select (h.at - 1)::int as at from unnest(${holders.map(({ userId }) => userId)}::uuid[],
      ${holders.map(({ credentialId }) => credentialId)}::uuid[]) with ordinality as h(user_id, credential_id, at)
    join users u on u.id = h.user_id and u.closed_at is null and u.erased_at is null
    join sessions s on s.id = h.credential_id and s.user_id = h.user_id and s.expires_at > ${now}`.execute(db)
  return new Set(rows.map(({ at }) => at))
}

/** Deletes changes written before `before`, and remembers the newest deleted transaction. */
export async function pruneChanges(db: Db, before: Date): Promise<void> {
  await sql`
    with gone as (delete from live_changes where at < ${before} returning transaction_id)
    insert into live_pruned (transaction_id)
      select transaction_id from gone order by transaction_id desc limit 1
    on conflict (is_only) do update set transaction_id = greatest(live_pruned.transaction_id, excluded.transaction_id)`.execute(
    db,
  )
}

/**
 * Deletes rows of transactions that this server has not begun. They come with a dump of another server, and would be new
 * for every cursor.
 */
export async function forgetForeignTransactions(db: Db): Promise<void> {
  await sql`delete from live_changes where transaction_id >= pg_snapshot_xmax(pg_current_snapshot())`.execute(
    db,
  )
  await sql`delete from live_pruned where transaction_id >= pg_snapshot_xmax(pg_current_snapshot())`.execute(
    db,
  )
}
