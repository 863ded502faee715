/** The steps of a turn at GitHub: pull request, status comment, check. GitHub keeps each of them only once. */
import type { CompletionStatus } from '@dock/contract'
import { sql } from 'kysely'
import { GithubRefused, GithubUnavailable } from '../../github/index.ts'
import { repositoryOf } from '../linked-repository.ts'
import { findRun, type RunRow } from '../run-store.ts'
import { pullRequestBody, statusComment } from '../texts.ts'
import { findTurn, readCost } from '../turn-store.ts'
import { RunEnded, runFailed, runMerged, runStopped } from './run-ended.ts'
import { pause, readLiveRun, type TurnParts } from './turn-context.ts'
import type { TurnOperation } from './turn-data.ts'

const firstPauseMs = 2_000
const longestPauseMs = 60_000
const patienceMs = 15 * 60_000

/** Calls GitHub, and calls again while it is unavailable. Throws {@link RunEnded} if it stays so or refuses. */
export async function onGithub<Answer>(parts: TurnParts, call: () => Promise<Answer>): Promise<Answer> {
  const { clock } = parts
  const until = clock.now().getTime() + patienceMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await call()
    } catch (error) {
      if (error instanceof GithubRefused)
        throw runFailed(`GitHub refused the request with status ${error.status}.`, { cause: error })
      if (!(error instanceof GithubUnavailable)) throw error
      if (clock.now().getTime() > until) throw runFailed('GitHub was not available.', { cause: error })
      await pause(parts, Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, patienceMs)))
    }
  }
}

/** Opens the draft pull request, or decides that there is nothing to show. The provider says what was pushed. */
export async function publishBranch(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, github } = parts
  const run = await readLiveRun(parts, operation)
  const repository = repositoryOf(run)
  const turn = await findTurn(db, run.id, operation.data.turnId)
  const branch = await onGithub(parts, () => github.readBranch(repository, run.branch))
  const { aheadBy } = branch
    ? await onGithub(parts, () => github.compare(repository, run.baseBranch, run.branch))
    : { aheadBy: 0 }
  if (!branch || aheadBy === 0) {
    const completionStatus = turn?.report ? 'answered' : 'no_changes'
    throw new RunEnded({ state: 'done', reason: null, completionStatus })
  }
  operation.data.headCommit = branch.sha
  const { testsPassed } = operation.data
  const { costMicroUsd } = await readCost(db, run.id)
  const body = pullRequestBody(run, {
    report: turn?.report ?? null,
    testsPassed,
    costMicroUsd,
    link: parts.linkOf(run.id),
  })
  const title = `${turn?.text.title.slice(0, 200) || 'Work on an issue'} (#${run.issueNumber})`
  const { number, url, state, isMerged } = await onGithub(parts, () =>
    run.prNumber === null
      ? github.ensurePullRequest(repository, { head: run.branch, base: run.baseBranch, title, body })
      : github.updatePullRequest(repository, run.prNumber, { body }),
  )
  operation.data.pullRequest = { number, url }
  // Saved at once, so that feedback, a merge and a stop of people find the Run before its turn has ended.
  await sql`update runs set pr_number = ${number}, pr_url = ${url} where id = ${run.id}`.execute(db)
  // A person closed the pull request before its number was saved, so no webhook will reach the Run.
  if (state === 'closed')
    throw isMerged ? new RunEnded(runMerged) : runStopped('Its pull request was closed.')
}

/** Says at the issue that the Run works. It is tried once: a failure is not the Run's. */
export async function announce(parts: TurnParts, run: RunRow): Promise<void> {
  await tell(parts, run, 'Dock works on this issue.').catch((error: unknown) =>
    parts.logger.warn({ runId: run.id, err: error }, 'could not say at GitHub that a Run works'),
  )
}

/** Writes the outcome into the status comment, and a check on the pushed commit. */
export async function tellOutcome(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const run = await findRun(parts.db, operation.organizationId, operation.targetId)
  if (!run) return
  const { outcome, pullRequest, headCommit, testsPassed } = operation.data
  const state = outcome?.state ?? 'pr_opened'
  const text = statusComment({
    state: outcome?.isMerged ? 'merged' : state,
    reason: outcome?.reason ?? null,
    pullRequest: pullRequest?.number ?? run.prNumber,
    testsPassed,
  })
  try {
    await onGithub(parts, () => tell(parts, run, text))
    if (headCommit === null) return
    const conclusion =
      state === 'failed'
        ? 'failure'
        : state === 'stopped'
          ? 'cancelled'
          : testsPassed === false
            ? 'neutral'
            : 'success'
    const { checkRunId } = await onGithub(parts, () =>
      parts.github.writeCheckRun(repositoryOf(run), {
        checkRunId: null,
        externalId: `${run.id}:${operation.data.turn}`,
        name: 'Dock',
        headSha: headCommit,
        status: 'completed',
        conclusion,
        title: 'Dock',
        summary: text,
        detailsUrl: parts.linkOf(run.id),
      }),
    )
    await sql`update runs set check_run_id = ${checkRunId} where id = ${run.id}`.execute(parts.db)
  } catch (error) {
    ignoreGithub(parts, run, error)
  }
}

const tell = async (parts: TurnParts, run: RunRow, text: string): Promise<void> => {
  const body = `${text}\n\n[Follow the Run](${parts.linkOf(run.id)})`
  const { issueNumber, commentId: known } = run
  const { commentId } = await parts.github.writeStatusComment(repositoryOf(run), {
    issueNumber,
    marker: run.id,
    commentId: known,
    body,
  })
  if (commentId !== known)
    await sql`update runs set comment_id = ${commentId} where id = ${run.id}`.execute(parts.db)
}

/** The Run itself did its work, so a comment that GitHub does not take changes nothing. */
const ignoreGithub = ({ logger }: TurnParts, run: RunRow, error: unknown): void => {
  if (!(error instanceof RunEnded)) throw error
  logger.warn({ runId: run.id, err: error }, 'could not report a Run to GitHub')
}

/** Returns how the work ended, if it ended with a pull request. */
export function completionOf(testsPassed: boolean | null): CompletionStatus {
  return testsPassed === false ? 'tests_failed' : 'changes_pushed'
}
