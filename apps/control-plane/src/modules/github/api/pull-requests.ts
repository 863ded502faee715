/** Reads and writes pull requests. */
import * as z from 'zod'
import type { LinkedRepository } from '../linked-repository.ts'
import { GithubRefused } from './github-errors.ts'
import type { CallsOf } from './repository-calls.ts'

export type PullRequest = {
  number: number
  url: string
  state: 'open' | 'closed'
  isMerged: boolean
  isDraft: boolean
  headSha: string
  headBranch: string
  baseBranch: string
}

const answer = z
  .object({
    number: z.int(),
    html_url: z.string(),
    state: z.enum(['open', 'closed']),
    merged_at: z.string().nullish(),
    draft: z.boolean().nullish(),
    head: z.object({ sha: z.string(), ref: z.string(), repo: z.object({ id: z.int() }).nullish() }),
    base: z.object({ ref: z.string() }),
  })
  .transform((pull): PullRequest & { headRepositoryId: number | null } => ({
    number: pull.number,
    url: pull.html_url,
    state: pull.state,
    isMerged: Boolean(pull.merged_at),
    isDraft: pull.draft ?? false,
    headSha: pull.head.sha,
    headBranch: pull.head.ref,
    baseBranch: pull.base.ref,
    headRepositoryId: pull.head.repo?.id ?? null,
  }))

const remark = z.object({
  path: z.string(),
  line: z.int().nullish(),
  original_line: z.int().nullish(),
  body: z.string(),
})

const viewOf = ({ headRepositoryId: _, ...pull }: z.output<typeof answer>): PullRequest => pull

export type PullRequestText = { head: string; base: string; title: string; body: string }

export function pullRequestOperations(callsOf: CallsOf) {
  const findByHead = async (repository: LinkedRepository, head: string): Promise<PullRequest | null> => {
    const owner = repository.fullName.split('/')[0]
    const list = await callsOf(repository).read(
      { path: '/pulls', query: { state: 'all', head: `${owner}:${head}`, per_page: 100 } },
      z.array(answer),
    )
    const own = list.find(
      (each) => each.headBranch === head && each.headRepositoryId === repository.repositoryId,
    )
    return own ? viewOf(own) : null
  }
  return {
    /** Returns the pull request of a branch, open or closed, or creates a draft. */
    ensurePullRequest: async (repository: LinkedRepository, text: PullRequestText): Promise<PullRequest> => {
      const existing = await findByHead(repository, text.head)
      if (existing) return existing
      const create = (draft: boolean) =>
        callsOf(repository).read({ method: 'POST', path: '/pulls', body: { ...text, draft } }, answer)
      try {
        return viewOf(await create(true))
      } catch (error) {
        if (!(error instanceof GithubRefused && error.status === 422)) throw error
        // Another attempt made it meanwhile, or the plan of the repository has no drafts.
        const made = await findByHead(repository, text.head)
        if (made) return made
        if (!/draft/i.test(error.message)) throw error
        return viewOf(await create(false))
      }
    },
    updatePullRequest: async (
      repository: LinkedRepository,
      number: number,
      change: { title?: string; body?: string },
    ): Promise<PullRequest> =>
      viewOf(
        await callsOf(repository).read({ method: 'PATCH', path: `/pulls/${number}`, body: change }, answer),
      ),
    /** Returns what a review says about lines of files, in order. */
    readReviewRemarks: async (
      repository: LinkedRepository,
      number: number,
      reviewId: number,
    ): Promise<string[]> => {
      const path = `/pulls/${number}/reviews/${reviewId}/comments`
      const found = await callsOf(repository).read({ path, query: { per_page: 100 } }, z.array(remark))
      return found.map(({ path: file, line, original_line, body }) => {
        const at = line ?? original_line
        return `${file}${at ? `:${at}` : ''}: ${body}`
      })
    },
    readPullRequest: async (repository: LinkedRepository, number: number): Promise<PullRequest | null> => {
      const pull = await callsOf(repository).find({ path: `/pulls/${number}` }, answer)
      return pull && viewOf(pull)
    },
  }
}
