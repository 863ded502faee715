/** Changes the state of a Run, as the contract's table allows, with the words of its timeline, in one statement. */
import { type RunCause, type RunEventType, type RunState, runStatesBefore } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

export type RunMove = {
  runId: string
  to: RunState
  cause: RunCause
  events: readonly RunEventType[]
  now: Date
  /** Assignments to further columns. */
  set?: RawBuilder<unknown>
  /** A condition on the Run `r`, besides its state. */
  given?: RawBuilder<boolean>
}

/** Returns false, and changes nothing, if the Run is in no state from which the cause leads there. */
export async function moveRun(db: Db | Tx, move: RunMove): Promise<boolean> {
  const { runId, to, cause, events, now, set = sql``, given = sql<boolean>`true` } = move
  const { rows } = await sql`
    with moved as (update runs r set state = ${to}, updated_at = ${now}${set}
      where r.id = ${runId} and r.state = any(${runStatesBefore(to, cause)}) and ${given} returning r.id),
    told as (${insertRunEvents(sql`moved`, events, now)})
    select id from moved`.execute(db)
  return rows.length === 1
}

/** SQL that adds words to the timeline of the Run whose `id` the relation has. */
export function insertRunEvents(
  relation: RawBuilder<unknown>,
  events: readonly RunEventType[],
  now: Date,
): RawBuilder<unknown> {
  return sql`insert into run_events (run_id, type, at)
    select m.id, e.type, ${now}::timestamptz from ${relation} m
    cross join unnest(${events}::text[]) with ordinality as e(type, position) order by e.position`
}

/** Adds words to the timeline, unless the current turn has told the first of them: a step may run again after a crash. */
export async function tellOnce(
  db: Db,
  runId: string,
  events: readonly RunEventType[],
  now: Date,
): Promise<void> {
  const relation = sql`(select r.id from runs r where r.id = ${runId} and not exists (
    select 1 from run_events e where e.run_id = r.id and e.type = ${events[0]} and e.id > coalesce(
      (select max(f.id) from run_events f where f.run_id = r.id and f.type = 'feedback'), 0)))`
  await insertRunEvents(relation, events, now).execute(db)
}
