/** POST /v1/github/runs */
import { type RouteBody, type Run, type routes, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { findLinkedRepository, GithubRefused, GithubUnavailable, type RunTrigger } from '../github/index.ts'
import { requireFastRunSlot } from '../limits/index.ts'
import { findRunOfKey, insertRun } from './insert-run.ts'
import type { RunContext } from './run-context.ts'
import { findVisibleRun } from './run-store.ts'
import { targetOf, viewRun } from './run-view.ts'

type StartBody = RouteBody<(typeof routes)['startRun']>

/** Starts a Run by hand. A repeated request with the same key returns the Run of the first. */
export async function startRun(
  context: RunContext,
  member: Member,
  body: StartBody,
  key: string | undefined,
): Promise<Run> {
  const { db, clock, github, planOf } = context
  const { organizationId, userId } = member
  const { workspaceId, issueNumber, instruction } = body
  const repository = await findLinkedRepository(db, { organizationId, workspaceId }, body.repo)
  if (!repository)
    throw new ServiceError('not_found', {
      message: `${body.repo} is not linked to this workspace. Link it, or check its name.`,
    })
  const plan = await planOf(db, repository.installationId)
  if (!plan) throw new ServiceError('installation_not_found')
  const triggerKey = `hand:${userId}:${key ?? newUuid()}`
  const earlier = await findRunOfKey(db, repository.repositoryId, triggerKey)
  if (earlier !== null) return show(context, member, earlier)
  if (plan.executionTarget === 'fast') {
    if (!context.isFastOn) throw new ServiceError('fast_run_disabled')
    await requireFastRunSlot(db, { organizationId, billing: context.docks.billing })
  }
  const now = clock.now()
  const text = await github.readIssueText(repository, issueNumber, now).catch((error: unknown) => {
    if (error instanceof GithubRefused || error instanceof GithubUnavailable)
      throw new ServiceError('github_unavailable', { cause: error })
    throw error
  })
  if (!text) throw new ServiceError('not_found', { message: `${body.repo} has no issue ${issueNumber}.` })
  const trigger: RunTrigger = {
    repository,
    issueNumber,
    kind: 'hand',
    key: triggerKey,
    instruction,
    text,
    actor: { id: 0, login: member.email },
  }
  const runId = await withTransaction(db, async (tx) => {
    const id = await insertRun(tx, trigger, plan, now)
    if (id !== null)
      await recordAudit(tx, member, {
        action: 'run.started',
        now,
        ...targetOf({ id, repo: repository.fullName, issueNumber, organizationId }),
        details: { agent: plan.agent, executionTarget: plan.executionTarget },
      })
    return id
  })
  if (runId === null) {
    const other = await findRunOfKey(db, repository.repositoryId, triggerKey)
    if (other !== null) return show(context, member, other)
    throw new ServiceError('conflict', {
      message: 'The issue has a Run that has not ended. Stop it, or comment on its pull request.',
    })
  }
  context.wake()
  return show(context, member, runId)
}

const show = async ({ db }: RunContext, { userId }: Member, runId: string): Promise<Run> => {
  const run = await findVisibleRun(db, userId, runId, null)
  if (!run) throw new ServiceError('installation_not_found')
  return viewRun(run)
}
