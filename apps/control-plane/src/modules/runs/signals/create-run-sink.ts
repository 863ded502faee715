/** Takes triggers and signals from GitHub. All run in the transaction that records them. */
import { limits, liveRunStates } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { LinkedRepository, RunSignal, RunSink, RunTrigger } from '../../github/index.ts'
import { cleanText, insertRun, type PlanOf } from '../insert-run.ts'
import { moveRun } from '../move-run.ts'
import { askRunsToStop } from '../stop-requests.ts'
import { startNextTurn } from './next-turn.ts'

export type SinkParts = {
  now(): Date
  planOf: PlanOf
  wake(): void
}

const findByPullRequest = async (
  db: Db | Tx,
  { repositoryId }: Pick<LinkedRepository, 'repositoryId'>,
  pullRequestNumber: number,
): Promise<string | null> => {
  const { rows } = await sql<{ id: string }>`select id from runs
    where repository_id = ${repositoryId} and pr_number = ${pullRequestNumber} and state = any(${liveRunStates})`.execute(
    db,
  )
  return rows[0]?.id ?? null
}

/** Saves feedback as the Run's next turn. Feedback beyond the last turn is dropped. */
const takeFeedback = async (tx: Tx, runId: string, trigger: RunTrigger, now: Date): Promise<void> => {
  await sql`with run as (select r.id, (select max(t.number) from run_turns t where t.run_id = r.id) + 1 as number
      from runs r where r.id = ${runId} for update of r),
    free as (select id, number from run where number <= ${limits.runs.turnsMax}
      and not exists (select 1 from run_turns t
        where t.repository_id = ${trigger.repository.repositoryId} and t.trigger_key = ${trigger.key}))
    insert into run_turns (id, run_id, number, repository_id, trigger_key, actor, instruction, text, has_outsider_text, created_at)
    select ${newUuid()}::uuid, f.id, f.number, ${trigger.repository.repositoryId}::bigint, ${trigger.key},
      ${trigger.actor.login}, ${cleanText(trigger.instruction)}, ${cleanText(JSON.stringify(trigger.text))}::jsonb,
      ${trigger.text.hasOutsiderText}::boolean, ${now}::timestamptz from free f`.execute(tx)
  await startNextTurn(tx, runId, now)
}

export function createRunSink(parts: SinkParts): RunSink {
  const signal = async (tx: Tx, signalled: RunSignal): Promise<boolean> => {
    const now = parts.now()
    const stop = async (which: RawBuilder<boolean>, reason: string): Promise<boolean> =>
      (await askRunsToStop(tx, which, { reason, now })) > 0
    switch (signalled.kind) {
      case 'stop': {
        const { repository, number, actor } = signalled
        return stop(
          sql<boolean>`r.repository_id = ${repository.repositoryId} and (r.issue_number = ${number} or r.pr_number = ${number})`,
          `Stopped by ${actor.login} at GitHub.`,
        )
      }
      case 'issue_closed': {
        const { repository, issueNumber } = signalled
        return stop(
          sql<boolean>`r.repository_id = ${repository.repositoryId} and r.issue_number = ${issueNumber}`,
          'The issue was closed.',
        )
      }
      case 'unlinked':
        return stop(
          sql<boolean>`r.installation_id = ${signalled.installationId} and r.repository_id = any(${signalled.repositoryIds}::bigint[])`,
          'The repository is no longer linked.',
        )
      case 'merged':
      case 'closed': {
        const runId = await findByPullRequest(tx, signalled.repository, signalled.pullRequestNumber)
        if (runId === null) return false
        const isMerged = signalled.kind === 'merged'
        const moved = await moveRun(tx, {
          runId,
          to: isMerged ? 'done' : 'stopped',
          cause: signalled.kind,
          events: [signalled.kind],
          now,
          given: sql<boolean>`r.state = 'pr_opened'`,
        })
        if (moved) return true
        // A turn works on feedback. Its saga ends the agent, and then the Run.
        const reason = isMerged ? 'Its pull request was merged.' : 'Its pull request was closed.'
        return (await askRunsToStop(tx, sql<boolean>`r.id = ${runId}`, { reason, isMerged, now })) > 0
      }
      case 'feedback': {
        const { trigger, pullRequestNumber } = signalled
        const runId = await findByPullRequest(tx, trigger.repository, pullRequestNumber)
        if (runId !== null) await takeFeedback(tx, runId, trigger, now)
        return runId !== null
      }
    }
  }
  return {
    startRun: async (tx, trigger) => {
      const plan = await parts.planOf(tx, trigger.repository.installationId)
      if (!plan) return { outcome: 'refused', runId: null }
      const runId = await insertRun(tx, trigger, plan, parts.now())
      return { outcome: runId === null ? 'exists' : 'started', runId }
    },
    signalRun: signal,
    isRunPullRequest: async (db, repository, number) =>
      (await findByPullRequest(db, repository, number)) !== null,
    wake: parts.wake,
  }
}
