/** Decides whether a comment, an issue, a label or a review asks for a Run. Dock ignores people who may not ask. */
import type { Db } from '../../../database/database.ts'
import type { GithubOperations } from '../api/github-operations.ts'
import { clipText } from '../api/issue-text.ts'
import { mayStartRuns } from '../api/read-permission.ts'
import { findSettings } from '../installations/installation-store.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import type { RunSink, RunTrigger } from '../run-triggers.ts'
import { asksToStop, mayMention, mentions } from './find-mention.ts'
import type { IssueCommentEvent, IssuesEvent, PullRequestReviewEvent, WebhookAccount } from './payloads.ts'
import { nothing, type Plan } from './plan.ts'
import { triggerAgeMsMax } from './webhook-store.ts'

export type TriggerContext = {
  db: Db
  now: () => Date
  slug: string
  operations: GithubOperations
  runs: RunSink
}

/** Who did it, and through which other program. */
type Deed = {
  sender: WebhookAccount
  author: WebhookAccount | null | undefined
  via: { id: number } | null | undefined
  at: Date
}

/** Returns why this cannot start a Run, judged by the webhook alone, or null: a bot, a program, or too old. */
const findRefusal = (context: TriggerContext, { sender, author, via, at }: Deed): string | null => {
  if (sender.type !== 'User' || via || sender.login.endsWith('[bot]')) return 'not_a_person'
  if (author?.id !== sender.id) return 'not_the_author'
  return context.now().getTime() - at.getTime() > triggerAgeMsMax ? 'too_old' : null
}

const mayAsk = async (
  { operations }: TriggerContext,
  repository: LinkedRepository,
  sender: WebhookAccount,
): Promise<boolean> => mayStartRuns(await operations.readPermission(repository, sender))

const actorOf = ({ id, login }: WebhookAccount) => ({ id, login })

/** A comment on an issue starts a Run; on a Run's pull request, it continues that Run. */
export async function planIssueComment(
  context: TriggerContext,
  repository: LinkedRepository,
  { action, issue, comment, sender }: IssueCommentEvent,
): Promise<Plan> {
  if (action !== 'created') return nothing('ignored')
  const at = comment.created_at
  const refusal = findRefusal(context, {
    sender,
    author: comment.user,
    via: comment.performed_via_github_app,
    at,
  })
  if (refusal) return nothing(refusal)
  if (!mayMention(comment.body, context.slug)) return nothing('no_mention')
  const isPull = Boolean(issue.pull_request)
  if (isPull && !(await context.runs.isRunPullRequest(context.db, repository, issue.number)))
    return nothing('no_run')
  if (!(await mayAsk(context, repository, sender))) return nothing('not_permitted')
  if (!mentions(comment.body, context.slug)) return nothing('no_mention')
  const actor = actorOf(sender)
  const key = `comment:${comment.id}`
  if (asksToStop(comment.body, context.slug))
    return {
      kind: 'signal',
      signal: { kind: 'stop', repository, number: issue.number, actor },
      key,
    }
  if (!isPull && issue.state !== 'open') return nothing('issue_closed')
  const text = await context.operations.readIssueText(repository, issue.number, at, {
    sent: { title: issue.title, body: issue.body },
    skipCommentId: comment.id,
    // Webhooks come late, and in any order.
    mustBeOpen: !isPull,
  })
  if (!text) return nothing('issue_gone')
  const trigger: RunTrigger = {
    repository,
    issueNumber: issue.number,
    kind: 'mention',
    key,
    actor,
    text,
    instruction: clipText(comment.body),
  }
  return isPull
    ? {
        kind: 'signal',
        signal: { kind: 'feedback', pullRequestNumber: issue.number, trigger },
      }
    : { kind: 'start', trigger }
}

/** A new issue with a mention, or the label of the settings, starts a Run. */
export async function planIssue(
  context: TriggerContext,
  repository: LinkedRepository,
  { action, issue, label, sender }: IssuesEvent,
): Promise<Plan> {
  const { operations, slug } = context
  if (action === 'closed' || action === 'deleted' || action === 'transferred')
    return {
      kind: 'signal',
      signal: { kind: 'issue_closed', repository, issueNumber: issue.number },
    }
  if (issue.pull_request || issue.state !== 'open') return nothing('ignored')
  const isLabel = action === 'labeled' && label
  if (!isLabel && action !== 'opened') return nothing('ignored')
  const at = isLabel ? issue.updated_at : issue.created_at
  const author = isLabel ? sender : issue.user
  const refusal = findRefusal(context, { sender, author, via: issue.performed_via_github_app, at })
  if (refusal) return nothing(refusal)
  if (isLabel) {
    const wanted = (await findSettings(context.db, repository.installationId))?.label
    if (wanted?.toLowerCase() !== label.name.toLowerCase()) return nothing('other_label')
  } else if (!mayMention(issue.body, slug)) return nothing('no_mention')
  if (!(await mayAsk(context, repository, sender))) return nothing('not_permitted')
  if (!isLabel && !mentions(issue.body, slug)) return nothing('no_mention')
  const text = await operations.readIssueText(repository, issue.number, at, {
    sent: { title: issue.title, body: issue.body },
    mustBeOpen: true,
  })
  if (!text) return nothing('issue_gone')
  return {
    kind: 'start',
    trigger: {
      repository,
      issueNumber: issue.number,
      actor: actorOf(sender),
      text,
      kind: isLabel ? 'label' : 'mention',
      // The webhook does not carry the number of the label's event. Its time does not change when it is sent again.
      key: isLabel ? `label:${issue.id}:${label.id}:${at.getTime()}` : `issue:${issue.id}`,
      instruction: isLabel ? '' : clipText(issue.body),
    },
  }
}

/** A review of a Run's pull request continues that Run. An approval asks for nothing. */
export async function planReview(
  context: TriggerContext,
  repository: LinkedRepository,
  { action, review, pull_request: pull, sender }: PullRequestReviewEvent,
): Promise<Plan> {
  const { operations, runs, db } = context
  if (action !== 'submitted') return nothing('ignored')
  const at = review.submitted_at
  const refusal = findRefusal(context, { sender, author: review.user, via: null, at })
  if (refusal) return nothing(refusal)
  if (!['commented', 'changes_requested'].includes(review.state)) return nothing('ignored')
  if (pull.head.repo?.id !== repository.repositoryId) return nothing('fork')
  if (!(await runs.isRunPullRequest(db, repository, pull.number))) return nothing('no_run')
  if (!(await mayAsk(context, repository, sender))) return nothing('not_permitted')
  const remarks = await operations.readReviewRemarks(repository, pull.number, review.id)
  const instruction = clipText([review.body, ...remarks].filter((part) => part.trim() !== '').join('\n\n'))
  if (instruction === '') return nothing('empty')
  const text = await operations.readIssueText(repository, pull.number, at, {
    sent: { title: pull.title, body: pull.body },
  })
  if (!text) return nothing('issue_gone')
  const key = `review:${review.id}`
  const trigger: RunTrigger = {
    repository,
    issueNumber: pull.number,
    kind: 'review',
    key,
    actor: actorOf(sender),
    instruction,
    text,
  }
  return {
    kind: 'signal',
    signal: { kind: 'feedback', pullRequestNumber: pull.number, trigger },
  }
}
