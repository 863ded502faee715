/** All SQL for ordered stops: the Docks to stop because an account was closed, and the time of the next attempt. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { DockRow } from '../core/dock.ts'
import { statesWithoutRuntimeList } from '../core/dock-state.ts'
import { dockColumns } from '../core/dock-store.ts'

/** How long after the closing to look for late Docks. Longer than a create can take before its row exists. */
const lateMs = 600_000

/**
 * Orders the stop of every Dock that may run and that the user created, or that belongs to an organization in which the
 * user is the only member. Runs in the transaction that closes the account. Docks of deleted organizations are left out,
 * because they are deleted anyway.
 */
export async function orderStops(tx: Tx, userId: string, now: Date): Promise<void> {
  await sql`
    insert into ordered_stops (dock_id, generation, ordered_by, next_attempt_at)
    select d.id, d.generation, ${userId}::uuid, ${now}::timestamptz from docks d
    join organizations o on o.id = d.organization_id and o.deleted_at is null
    where d.state not in (${statesWithoutRuntimeList}) and (d.created_by = ${userId}::text or (
      exists (select 1 from memberships m where m.organization_id = d.organization_id and m.user_id = ${userId}::uuid)
      and not exists (select 1 from memberships m
        where m.organization_id = d.organization_id and m.user_id <> ${userId}::uuid)))
    on conflict (dock_id) do update set generation = excluded.generation, ordered_by = excluded.ordered_by,
      attempts = 0, next_attempt_at = excluded.next_attempt_at`.execute(tx)
}

/**
 * Orders the stop of Docks whose rows were inserted while their creator's account was being closed, too late for
 * {@link orderStops}. It runs periodically, so it considers only accounts that were closed in the last 10 minutes.
 */
export async function orderLateStops(db: Db, now: Date): Promise<void> {
  await sql`
    insert into ordered_stops (dock_id, generation, ordered_by, next_attempt_at)
    select d.id, d.generation, u.id, ${now}::timestamptz from users u
    join docks d on d.created_by = u.id::text and d.generation = 1 and d.created_at > u.closed_at - interval '1 minute'
    where u.closed_at > ${new Date(now.getTime() - lateMs)} and d.state not in ('archived', 'archiving', 'error')
    on conflict (dock_id) do nothing`.execute(db)
}

/** Cancels the user's ordered stops that have not begun. */
export async function cancelOrderedStops(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('ordered_stops').where('ordered_by', '=', userId).execute()
}

export type OrderedStop = { dock: DockRow; generation: number; orderedBy: string; attempts: number }

/** Takes orders that are due. Other processes do not see them until `until`. */
export async function takeOrderedStops(
  db: Db,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<OrderedStop[]> {
  const { rows } = await sql<DockRow & { ordered: number; orderedBy: string; attempts: number }>`
    with taken as (update ordered_stops set next_attempt_at = ${until} where dock_id in (
      select dock_id from ordered_stops where next_attempt_at <= ${now}
      order by next_attempt_at limit ${limit} for update skip locked) returning *)
    select ${dockColumns}, t.generation as ordered, t.ordered_by as "orderedBy", t.attempts
    from taken t join docks d on d.id = t.dock_id`.execute(db)
  return rows.map(({ ordered, orderedBy, attempts, ...dock }) => ({
    dock,
    generation: ordered,
    orderedBy,
    attempts,
  }))
}

/** Counts an attempt and sets the time of the next. */
export async function postponeOrderedStop(db: Db, dockId: string, nextAttemptAt: Date): Promise<void> {
  await db
    .updateTable('ordered_stops')
    .set((set) => ({ attempts: set('attempts', '+', 1), next_attempt_at: nextAttemptAt }))
    .where('dock_id', '=', dockId)
    .execute()
}

export async function deleteOrderedStop(db: Db, dockId: string): Promise<void> {
  await db.deleteFrom('ordered_stops').where('dock_id', '=', dockId).execute()
}
