/** Requests to end Runs. They are saved; the Run's saga ends what runs. */
import { liveRunStates } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { insertRunEvents } from './move-run.ts'

/**
 * Saves that a Run must end. A Run on which no saga works ends at once: it waits for its machine, or its pull request is
 * open. The door closes in the same statement, so that nothing is pushed afterwards. Returns true if the Run is live and
 * nobody has asked before.
 */
export async function askToStop(
  tx: Tx,
  { runId, reason, now }: { runId: string; reason: string; now: Date },
): Promise<boolean> {
  const { rows } = await sql<{ stopReason: string | null }>`select stop_reason as "stopReason" from runs
    where id = ${runId} for update`.execute(tx)
  const asked = await askRunsToStop(tx, sql<boolean>`r.id = ${runId}`, { reason, now })
  return asked > 0 && rows[0]?.stopReason === null
}

/**
 * Like {@link askToStop}, for all live Runs `r` that the condition selects. Returns their number. `isMerged`: they end as
 * done, because their pull request was merged.
 */
export async function askRunsToStop(
  db: Db | Tx,
  which: RawBuilder<boolean>,
  { reason, isMerged = false, now }: { reason: string; isMerged?: boolean; now: Date },
): Promise<number> {
  const { rows } = await sql`
    with asked as (update runs r set stop_reason = coalesce(r.stop_reason, ${reason}),
        is_merged = r.is_merged or ${isMerged}::boolean, door_open = false,
        state = case when r.state in ('pending', 'pr_opened') then 'stopped' else r.state end, updated_at = ${now}
      where ${which} and r.state = any(${liveRunStates}) returning r.id, r.state),
    ended as (select id from asked where state = 'stopped'),
    told as (${insertRunEvents(sql`ended`, ['stopped'], now)})
    select id from asked`.execute(db)
  return rows.length
}
