/** Carries out the plan for a webhook, once: in the transaction that marks it as processed. */
import { rateLimits } from '@dock/contract'
import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import type { RunSink, RunTrigger } from '../run-triggers.ts'
import type { Plan } from './plan.ts'

const { max, windowSeconds } = rateLimits.runsFromMentions

/** The first trigger over the limit in its window: people get one notice. */
export type Notice = { repository: LinkedRepository; issueNumber: number; until: Date }

export type Applied = { outcome: string; notice: Notice | null }

/** Records a trigger's key. Returns false if it was recorded before, under whatever delivery id. */
const insertKey = async (tx: Tx, repository: LinkedRepository, key: string, now: Date): Promise<boolean> => {
  const { rows } =
    await sql`insert into github_triggers (repository_id, key, provider_installation_id, at, outcome)
    values (${repository.repositoryId}, ${key}, ${repository.providerInstallationId}, ${now}, 'accepted')
    on conflict do nothing returning 1`.execute(tx)
  return rows.length > 0
}

/** Locks the link, so that triggers of a repository are counted one after another. Returns false if it was unlinked. */
const lockLink = async (tx: Tx, { repositoryId, installationId }: LinkedRepository): Promise<boolean> => {
  const { rows } = await sql`select 1 from github_repositories
    where repository_id = ${repositoryId} and installation_id = ${installationId} for no key update`.execute(
    tx,
  )
  return rows.length > 0
}

const setOutcome = async (
  tx: Tx,
  repository: LinkedRepository,
  key: string,
  outcome: string,
): Promise<void> => {
  await sql`update github_triggers set outcome = ${outcome}
    where repository_id = ${repository.repositoryId} and key = ${key}`.execute(tx)
}

/** Counts the triggers of the current window, this one included. Windows are fixed: they begin with each hour. */
const countInWindow = async (tx: Tx, repository: LinkedRepository, now: Date) => {
  const windowMs = windowSeconds * 1000
  const startsAt = new Date(Math.floor(now.getTime() / windowMs) * windowMs)
  const { rows } = await sql<{ accepted: number; limited: number }>`
    select count(*) filter (where outcome not in ('limited', 'stop')) as accepted, count(*) filter (where outcome = 'limited') as limited
    from github_triggers where provider_installation_id = ${repository.providerInstallationId}
      and repository_id = ${repository.repositoryId} and at >= ${startsAt}`.execute(tx)
  return { ...rows[0]!, until: new Date(startsAt.getTime() + windowMs) }
}

const withinLimit = async (
  tx: Tx,
  { repository, issueNumber, key }: RunTrigger,
  now: Date,
  start: () => Promise<string>,
): Promise<Applied> => {
  if (!(await lockLink(tx, repository))) return { outcome: 'not_linked', notice: null }
  if (!(await insertKey(tx, repository, key, now))) return { outcome: 'duplicate', notice: null }
  const { accepted, limited, until } = await countInWindow(tx, repository, now)
  const isOver = accepted > max
  const outcome = isOver ? 'limited' : await start()
  await setOutcome(tx, repository, key, outcome)
  return { outcome, notice: isOver && limited === 0 ? { repository, issueNumber, until } : null }
}

/** Applies a plan. All of it commits with the webhook's mark, or nothing. */
export async function applyPlan(tx: Tx, runs: RunSink, plan: Plan, now: Date): Promise<Applied> {
  switch (plan.kind) {
    case 'none':
      return { outcome: plan.outcome, notice: null }
    case 'change':
      await plan.apply(tx)
      return { outcome: plan.outcome, notice: null }
    case 'start':
      return withinLimit(tx, plan.trigger, now, async () => (await runs.startRun(tx, plan.trigger)).outcome)
    case 'signal': {
      const { signal } = plan
      const send = async (): Promise<string> => ((await runs.signalRun(tx, signal)) ? signal.kind : 'no_run')
      if (signal.kind === 'feedback') return withinLimit(tx, signal.trigger, now, send)
      // A stop is never held back by the limit.
      if (signal.kind === 'stop' && plan.key !== undefined) {
        if (!(await insertKey(tx, signal.repository, plan.key, now)))
          return { outcome: 'duplicate', notice: null }
        await setOutcome(tx, signal.repository, plan.key, 'stop')
      }
      return { outcome: await send(), notice: null }
    }
  }
}
