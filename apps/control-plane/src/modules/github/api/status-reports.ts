/** What people see of a Run at GitHub: one comment that is edited in place, and one check on the commit. */
import * as z from 'zod'
import type { FindApp } from '../app/github-app.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import { GithubRefused } from './github-errors.ts'
import type { CallsOf } from './repository-calls.ts'

const withId = z.object({ id: z.int() })
const listedComment = z.object({
  id: z.int(),
  body: z.string().nullish(),
  performed_via_github_app: z.object({ id: z.int() }).nullish(),
})
const checkRuns = z.object({
  check_runs: z.array(z.object({ id: z.int(), external_id: z.string().nullish() })),
})

const pageSize = 100
/** How many pages of comments are searched for the marker. */
const pagesMax = 10

export type StatusComment = { issueNumber: number; marker: string; commentId: number | null; body: string }

export type CheckRun = {
  checkRunId: number | null
  externalId: string
  name: string
  headSha: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: 'success' | 'failure' | 'neutral' | 'cancelled' | 'timed_out' | null
  title: string
  summary: string
  detailsUrl: string
}

/** Returns null instead of the error if GitHub does not have the comment or check that should be edited. */
const unlessGone = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof GithubRefused && (error.status === 404 || error.status === 410)) return null
    throw error
  }
}

export function statusOperations(callsOf: CallsOf, findApp: FindApp) {
  const findComment = async (
    repository: LinkedRepository,
    issueNumber: number,
    mark: string,
  ): Promise<number | null> => {
    const appId = (await findApp())?.appId
    for (let page = 1; page <= pagesMax; page += 1) {
      const comments = await callsOf(repository).read(
        { path: `/issues/${issueNumber}/comments`, query: { per_page: pageSize, page } },
        z.array(listedComment),
      )
      const own = comments.find(
        ({ body, performed_via_github_app: via }) => via?.id === appId && body?.includes(mark),
      )
      if (own) return own.id
      if (comments.length < pageSize) return null
    }
    return null
  }

  return {
    /** Edits the comment, or the one of the App that has the marker, or else creates it. */
    writeStatusComment: async (
      repository: LinkedRepository,
      { issueNumber, marker, commentId, body: text }: StatusComment,
    ): Promise<{ commentId: number }> => {
      const mark = `<!-- dock:${marker} -->`
      const body = `${text}\n\n${mark}`
      const calls = callsOf(repository)
      const edit = (id: number) =>
        unlessGone(calls.read({ method: 'PATCH', path: `/issues/comments/${id}`, body: { body } }, withId))
      const known = commentId ?? (await findComment(repository, issueNumber, mark))
      const edited = known === null ? null : await edit(known)
      const { id } =
        edited ??
        (await calls.read(
          { method: 'POST', path: `/issues/${issueNumber}/comments`, body: { body } },
          withId,
        ))
      return { commentId: id }
    },

    /** Updates the check, or the one of the commit that has the external id, or else creates it. */
    writeCheckRun: async (
      repository: LinkedRepository,
      { checkRunId, headSha, externalId, name, ...check }: CheckRun,
    ): Promise<{ checkRunId: number }> => {
      const calls = callsOf(repository)
      const body = {
        name,
        external_id: externalId,
        details_url: check.detailsUrl,
        status: check.status,
        ...(check.conclusion === null ? {} : { conclusion: check.conclusion }),
        output: { title: check.title, summary: check.summary },
      }
      const find = async (): Promise<number | null> => {
        const path = `/commits/${encodeURIComponent(headSha)}/check-runs`
        const query = { check_name: name, per_page: pageSize }
        const found = await calls.read({ path, query }, checkRuns)
        return found.check_runs.find((each) => each.external_id === externalId)?.id ?? null
      }
      const known = checkRunId ?? (await find())
      const { id } =
        known === null
          ? await calls.read(
              { method: 'POST', path: '/check-runs', body: { ...body, head_sha: headSha } },
              withId,
            )
          : await calls.read({ method: 'PATCH', path: `/check-runs/${known}`, body }, withId)
      return { checkRunId: id }
    },
  }
}
