/**
 * The text of an issue as it stood at one moment. What was written or edited later is left out, so that nobody can change
 * what a Run reads after a person with write access has asked for it.
 */
import { limits } from '@dock/contract'
import * as z from 'zod'
import type { FindApp } from '../app/github-app.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import { mayStartRuns, readPermission } from './read-permission.ts'
import type { CallsOf } from './repository-calls.ts'

/** `isOutsider`: the author may not write to the repository. */
export type QuotedText = { author: string; isOutsider: boolean; createdAt: string; body: string }

export type RunText = {
  title: string
  body: QuotedText
  /** Oldest first. */
  comments: QuotedText[]
  hasOutsiderText: boolean
}

/** Title and body as a webhook brought them. They replace what the API says now. */
export type IssueAsSent = { title: string; body: string }

const author = z.object({ id: z.int(), login: z.string(), type: z.string().optional() }).nullish()
const issueAnswer = z.object({
  title: z.string(),
  state: z.string(),
  body: z.string().nullish(),
  user: author,
  comments: z.int().min(0),
  created_at: z.string(),
  pull_request: z.unknown().optional(),
})
const commentAnswer = z.object({
  id: z.int(),
  body: z.string().nullish(),
  user: author,
  created_at: z.string(),
  updated_at: z.string(),
  performed_via_github_app: z.object({ id: z.int() }).nullish(),
})
type Author = z.output<typeof author>

const { textBytesMax, commentsMax } = limits.github
/** Authors beyond these count as outsiders, so that an issue with many authors costs few requests. */
const authorsMax = 20
const titleLengthMax = 1_000
/** GitHub's times have no fractions of a second. */
const secondMs = 1_000

/** Returns the longest beginning of a text that has at most `bytesMax` bytes of UTF-8. */
export function clipText(text: string, bytesMax: number = textBytesMax): string {
  const bytes = Buffer.from(text.replaceAll('\0', '\uFFFD').toWellFormed())
  if (bytes.length <= bytesMax) return bytes.toString()
  let end = bytesMax
  while (end > 0 && (bytes[end]! & 0b1100_0000) === 0b1000_0000) end -= 1
  return bytes.toString('utf8', 0, end)
}

export function issueTextOperations(callsOf: CallsOf, findApp: FindApp) {
  const readComments = async (repository: LinkedRepository, issueNumber: number, total: number) => {
    const last = Math.max(1, Math.ceil(total / commentsMax))
    const pages = last === 1 ? [1] : [last - 1, last]
    const lists = await Promise.all(
      pages.map((page) =>
        callsOf(repository).read(
          { path: `/issues/${issueNumber}/comments`, query: { per_page: commentsMax, page } },
          z.array(commentAnswer),
        ),
      ),
    )
    return lists.flat()
  }

  /**
   * Returns the text, or null if there is no such issue, or if it must be open and is closed now. `skipCommentId` names the
   * comment that is the instruction.
   */
  const readIssueText = async (
    repository: LinkedRepository,
    issueNumber: number,
    asOf: Date,
    options: { sent?: IssueAsSent; skipCommentId?: number; mustBeOpen?: boolean } = {},
  ): Promise<RunText | null> => {
    const calls = callsOf(repository)
    const issue = await calls.find({ path: `/issues/${issueNumber}` }, issueAnswer)
    if (!issue || (options.mustBeOpen && issue.state !== 'open')) return null
    const appId = (await findApp())?.appId
    const latest = asOf.getTime() + secondMs
    const comments = (await readComments(repository, issueNumber, issue.comments))
      .filter(({ id, performed_via_github_app: via }) => id !== options.skipCommentId && via?.id !== appId)
      .filter(
        ({ created_at, updated_at }) => Date.parse(created_at) < latest && Date.parse(updated_at) < latest,
      )
      .slice(-commentsMax)

    const verdicts = new Map<number, Promise<boolean>>()
    const isOutsider = async (user: Author): Promise<boolean> => {
      if (!user || user.type === 'Bot') return true
      const known = verdicts.get(user.id)
      if (known) return known
      if (verdicts.size >= authorsMax) return true
      const verdict = readPermission(calls, user).then((permission) => !mayStartRuns(permission))
      verdicts.set(user.id, verdict)
      return verdict
    }
    const quote = async (user: Author, createdAt: string, body: string): Promise<QuotedText> => ({
      author: user?.login ?? 'ghost',
      createdAt,
      body: clipText(body),
      isOutsider: await isOutsider(user),
    })
    const body = await quote(issue.user, issue.created_at, options.sent?.body ?? issue.body ?? '')
    const quoted: QuotedText[] = []
    for (const each of comments) quoted.push(await quote(each.user, each.created_at, each.body ?? ''))
    return {
      title: clipText(options.sent?.title ?? issue.title, titleLengthMax),
      body,
      comments: quoted,
      hasOutsiderText: body.isOutsider || quoted.some((each) => each.isOutsider),
    }
  }
  return { readIssueText }
}
