/**
 * Changes of a Dock's state, each one SQL statement and so one transaction: the row, the cause of each move, the event,
 * the host's reservation, the end of the Dock's keys and the operation change together or not at all.
 */
import type { WebhookEventType } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type Cause, LeaseLost, type OperationError, type OperationRow } from '../../../engine/index.ts'
import { endDockKeys } from '../../keys/index.ts'
import type { DockRow } from './dock.ts'
import { checkedMoves, type DockMove } from './dock-state.ts'
import { dockColumns } from './dock-store.ts'

export type DockChange = {
  dockId: string
  generation: number
  moves: readonly DockMove[]
  cause: Omit<Cause, 'why'>
  now: Date
  /** Further columns, as assignments. */
  set?: RawBuilder<unknown>
  /** A query that must answer a row, or the change is not made; it may lock what it reads. */
  given?: RawBuilder<unknown>
  event?: WebhookEventType
  /** Give back what the Dock has reserved on its host. */
  release?: boolean
  /** Completes this operation in the same transaction; another owner's lease makes it {@link LeaseLost}. */
  complete?: { operation: OperationRow; owner: string; error: OperationError | null }
  /** Further statements of the same transaction, as `name as (…)`. */
  also?: readonly RawBuilder<unknown>[]
}

const joined = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join([...parts], sql`, `)

/**
 * `name as (…)` that gives back the reservation of a Dock, counted once however often it is asked for. {@link holdHost}
 * goes before it.
 */
export function releaseHost(dockId: string): RawBuilder<unknown> {
  return sql`released as (
  update hosts set reserved_cpus = hosts.reserved_cpus - d.cpus,
    reserved_memory_mib = hosts.reserved_memory_mib - d.memory_mib,
    reserved_disk_gib = hosts.reserved_disk_gib - d.disk_gib, reserved_slots = hosts.reserved_slots - 1
  from docks d where d.id = ${dockId} and d.placed and d.host_id = hosts.id and exists (select 1 from moved))`
}

/**
 * `held as (…)`: the Dock's row is locked before its operation's and its host's, in claims and commits alike, so that
 * two of them never wait for each other in a circle. {@link afterHeld} makes a part wait for it.
 */
export function holdDock(dockId: string | null): RawBuilder<unknown> {
  return sql`held as (select id, host_id from docks where id = ${dockId}::uuid for update)`
}
export const afterHeld: RawBuilder<boolean> = sql<boolean>`(select count(*) from held) >= 0`

/**
 * `spot as (…)`, behind {@link holdDock}: locks the Dock's host before the Dock's row is changed or deleted, which
 * {@link afterSpot} makes wait for it. A create holds its host while it waits for whoever changes a Dock of the same
 * name, and a change that waited for the host only then would be waited for in a circle.
 */
export const holdHost: RawBuilder<unknown> = sql`spot as (select h.id from hosts h where h.id = (select host_id from held) for no key update)`
export const afterSpot: RawBuilder<boolean> = sql<boolean>`(select count(*) from spot) >= 0`

/** `name as (…)` that completes an operation held by `owner`; {@link holdDock} goes before it. */
export function completeOperation(
  operation: OperationRow,
  owner: string,
  error: OperationError | null,
  now: Date,
): RawBuilder<unknown> {
  return sql`
  update operations set status = 'completed', step = ${operation.step}, data = ${JSON.stringify(operation.data)},
    error = ${error && JSON.stringify(error)}, lease_until = null, updated_at = ${now}
  where id = ${operation.id} and lease_owner = ${owner} and status <> 'completed' and ${afterHeld} returning id`
}

/** Rows of `dock_state_changes` for these moves, one behind the other. */
export function insertChanges(
  source: RawBuilder<unknown>,
  moves: readonly DockMove[],
  cause: Omit<Cause, 'why'>,
  now: Date,
): RawBuilder<unknown> {
  return sql`
  insert into dock_state_changes (dock_id, organization_id, from_state, to_state, cause, at)
  select s.id, s.organization_id, m.f, m.t, m.c::jsonb, ${now}::timestamptz from ${source} s, (values ${sql.join(
    moves.map(
      (move, index) =>
        sql`(${index}::int, ${move.from}::text, ${move.to}::text, ${JSON.stringify({ ...cause, why: move.why })}::text)`,
    ),
    sql`, `,
  )}) as m(i, f, t, c) order by m.i`
}

/** Makes the change if the Dock still has this generation and the first move's state; answers the row, or null. */
export async function commitDock(db: Db, change: DockChange): Promise<DockRow | null> {
  const moves = checkedMoves(change.moves)
  const first = moves[0]!.from
  const last = moves.at(-1)!.to
  const { complete, now } = change
  const parts = [
    holdDock(change.dockId),
    complete
      ? sql`gate as (${completeOperation(complete.operation, complete.owner, complete.error, now)})`
      : sql`gate as (select 1 as id)`,
    ...(change.release ? [holdHost] : []),
    sql`given as (${change.given ?? sql`select 1`})`,
    sql`moved as (update docks d set state = ${last}, state_changed_at = ${now}, updated_at = ${now}
      ${change.release ? sql`, placed = false` : sql``} ${change.set ? sql`, ${change.set}` : sql``}
      where d.id = ${change.dockId} and d.generation = ${change.generation} and d.state = ${first}
        and exists (select 1 from gate) and exists (select 1 from given)
        ${change.release ? sql`and ${afterSpot}` : sql``} returning d.*)`,
    sql`changes as (${insertChanges(sql`moved`, moves, change.cause, now)})`,
    ...(change.release ? [releaseHost(change.dockId)] : []),
    ...(change.event
      ? [
          sql`event as (insert into dock_events
            (id, type, dock_id, dock_state, organization_id, workspace_id, occurred_at)
            select ${newUuid()}::uuid, ${change.event}::text, id, state, organization_id, workspace_id,
              ${now}::timestamptz from moved)`,
        ]
      : []),
    ...(last === 'archived' || last === 'error'
      ? [sql`keys as (${endDockKeys(change.dockId, sql<boolean>`exists (select 1 from moved)`)})`]
      : []),
    ...(change.also ?? []),
  ]
  const result = await sql<DockRow | { id: null }>`
    with ${joined(parts)} select ${dockColumns} from gate left join moved d on true`.execute(db)
  const row = result.rows[0]
  if (!row) throw complete ? new LeaseLost(complete.operation.id) : new Error('a change without a gate')
  return row.id === null ? null : row
}
