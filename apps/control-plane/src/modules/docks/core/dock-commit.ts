/**
 * Commits a change of a Dock's state. Each commit is one SQL statement, and therefore one transaction. It updates the
 * Dock's row, records the cause of each move, writes the event, releases the host's reservation, revokes the Dock's keys
 * and completes the operation, or does none of these.
 */
import type { WebhookEventType } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import {
  type Cause,
  completeLeasedOperation,
  LeaseLost,
  type OperationError,
  type OperationRow,
} from '../../../engine/index.ts'
import { releaseRoom } from '../../hosts/index.ts'
import { deleteDockKeysSql } from '../../keys/index.ts'
import { insertDeliveries } from '../../webhooks/index.ts'
import type { DockRow } from './dock.ts'
import { checkedMoves, type DockMove } from './dock-state.ts'
import { dockColumns } from './dock-store.ts'
import type { StopDetails } from './stop-details.ts'

export type DockChange = {
  dockId: string
  generation: number
  moves: readonly DockMove[]
  cause: Omit<Cause, 'why'>
  /** What the last move's record keeps beside its cause. */
  details?: StopDetails
  now: Date
  /** Assignments to further columns of the Dock. */
  set?: RawBuilder<unknown>
  /** A query that must return a row, otherwise the change is not made. It may lock the rows it reads. */
  given?: RawBuilder<unknown>
  event?: WebhookEventType
  /** Releases the Dock's reservation on its host. */
  release?: boolean
  /** Completes this operation in the same transaction. Throws {@link LeaseLost} if `owner` no longer holds its lease. */
  complete?: { operation: OperationRow; owner: string; error: OperationError | null }
  /** Further statements of the same transaction, each in the form `name as (…)`. */
  also?: readonly RawBuilder<unknown>[]
}

/** The CTE `moved` of a claim or commit: the Dock's changed row, or no row if nothing was changed. */
export const moved: RawBuilder<unknown> = sql`moved`
/** The CTE `gate` of a commit: a row if the operation was completed here, whether or not the Dock was changed. */
export const gate: RawBuilder<unknown> = sql`gate`

/** SQL predicate: true if the relation has a row. */
export function hasRow(relation: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from ${relation})`
}

const joined = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join([...parts], sql`, `)

/**
 * CTE `released`: releases the Dock's reservation on its host. Idempotent: `placed` guards against a second release. The
 * statement must contain {@link holdHost} before it.
 */
export function releaseHost(dockId: string): RawBuilder<unknown> {
  return sql`released as (${releaseRoom(sql`(select d.host_id, d.cpus, d.memory_mib, d.disk_gib from docks d
    where d.id = ${dockId} and d.placed and ${hasRow(moved)})`)})`
}

/**
 * CTE `held`: locks the Dock's row. Claims and commits both lock in the order Dock, operation, host, which prevents
 * deadlocks. A CTE that contains {@link afterHeld} runs after this one.
 */
export function holdDock(dockId: string | null): RawBuilder<unknown> {
  return sql`held as (select id, host_id from docks where id = ${dockId}::uuid for update)`
}
export const afterHeld: RawBuilder<boolean> = sql<boolean>`(select count(*) from held) >= 0`

/**
 * CTE `spot`: locks the row of the Dock's host. It must follow {@link holdDock}, and the CTE that changes or deletes the
 * Dock's row must contain {@link afterSpot}. Without this order a deadlock is possible: a create locks its host, then waits
 * for a transaction that changes a Dock of the same name, and that transaction waits for the host.
 */
export const holdHost: RawBuilder<unknown> = sql`spot as (select h.id from hosts h where h.id = (select host_id from held) for no key update)`
export const afterSpot: RawBuilder<boolean> = sql<boolean>`(select count(*) from spot) >= 0`

/** SQL that completes an operation if `owner` holds its lease. The statement must contain {@link holdDock} before it. */
export function completeOperation(
  operation: OperationRow,
  owner: string,
  error: OperationError | null,
  now: Date,
): RawBuilder<unknown> {
  return completeLeasedOperation(operation, owner, error, { given: afterHeld, now })
}

/** SQL that inserts a row into `dock_state_changes` for each move, in order. */
export function insertChanges(
  source: RawBuilder<unknown>,
  moves: readonly DockMove[],
  cause: Omit<Cause, 'why'> & StopDetails,
  now: Date,
): RawBuilder<unknown> {
  // The audit log alone has the address of a person.
  const { credential: _, credentialId: __, address: ___, ...shown } = cause
  return sql`
  insert into dock_state_changes (dock_id, organization_id, from_state, to_state, cause, at)
  select s.id, s.organization_id, m.f, m.t, m.c::jsonb, ${now}::timestamptz from ${source} s, (values ${sql.join(
    moves.map(
      (move, index) =>
        sql`(${index}::int, ${move.from}::text, ${move.to}::text, ${JSON.stringify({ ...shown, why: move.why })}::text)`,
    ),
    sql`, `,
  )}) as m(i, f, t, c) order by m.i`
}

const errorLengthMax = 500

const stopDetails = ({ details, complete }: DockChange): StopDetails => ({
  ...details,
  ...(complete?.error ? { error: complete.error.message.slice(0, errorLengthMax) } : {}),
})

/**
 * Makes the change if the Dock still has this generation and is in the state from which the first move starts. Returns
 * the new row, or null if nothing was changed. Throws {@link LeaseLost} if `complete` finds the lease taken.
 */
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
    sql`changes as (${insertChanges(sql`moved`, moves, { ...change.cause, ...stopDetails(change) }, now)})`,
    ...(change.release ? [releaseHost(change.dockId)] : []),
    ...(change.event
      ? [
          sql`event as (insert into dock_events
            (id, type, dock_id, dock_state, organization_id, workspace_id, occurred_at)
            select ${newUuid()}::uuid, ${change.event}::text, id, state, organization_id, workspace_id,
              ${now}::timestamptz from moved returning *)`,
          sql`deliveries as (${insertDeliveries(sql`event`, now)})`,
        ]
      : []),
    ...(last === 'archived' || last === 'error'
      ? [sql`keys as (${deleteDockKeysSql(change.dockId, sql<boolean>`exists (select 1 from moved)`)})`]
      : []),
    ...(change.also ?? []),
  ]
  const result = await sql<DockRow | { id: null }>`
    with ${joined(parts)} select ${dockColumns} from gate left join moved d on true`.execute(db)
  const row = result.rows[0]
  if (!row)
    throw complete
      ? new LeaseLost(complete.operation.id)
      : new Error('commitDock: the statement returned no row')
  return row.id === null ? null : row
}
