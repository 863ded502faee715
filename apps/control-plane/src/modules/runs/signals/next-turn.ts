/** Feedback on a Run's pull request is saved as a turn. It starts when the turn before it has ended. */
import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import { insertRunEvents } from '../move-run.ts'
import { insertTurnOperation } from '../saga/turn-operation.ts'

/** Starts the Run's next turn if it waits and the Run's pull request is open. Returns true if it has started. */
export async function startNextTurn(tx: Tx, runId: string, now: Date): Promise<boolean> {
  const { rows } = await sql<{ turnId: string; turn: number; organizationId: string }>`
    select t.id as "turnId", t.number as turn, r.organization_id as "organizationId"
    from runs r join run_turns t on t.run_id = r.id and t.number = r.turn + 1
    where r.id = ${runId} and r.state = 'pr_opened' and r.stop_reason is null for update of r`.execute(tx)
  const next = rows[0]
  if (!next) return false
  await sql`with moved as (update runs set state = 'working', turn = ${next.turn}, archive_at = null, updated_at = ${now}
      where id = ${runId} returning id),
    told as (${insertRunEvents(sql`moved`, ['feedback'], now)})
    ${insertTurnOperation({ runId, ...next }, sql`moved`, now)}`.execute(tx)
  return true
}
