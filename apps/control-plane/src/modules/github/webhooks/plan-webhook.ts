/** Reads a webhook and decides what follows from it. */
import type * as z from 'zod'
import type { GithubOperations } from '../api/github-operations.ts'
import type { GithubApp } from '../app/github-app.ts'
import { findRepositoryOfWebhook, renameRepository } from '../installations/installation-store.ts'
import { unlinkAtProvider, unlinkRepository } from '../installations/unlink.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import * as payloads from './payloads.ts'
import { nothing, type Plan } from './plan.ts'
import { planIssue, planIssueComment, planReview, type TriggerContext } from './plan-trigger.ts'

export type PlanContext = Omit<TriggerContext, 'slug'> & { app: GithubApp; operations: GithubOperations }

type OfRepository = { installation: { id: number }; repository: payloads.WebhookRepository }

/** The events that are stored. GitHub sends others too, such as `ping`. */
export const knownEvents = [
  ...(['issue_comment', 'issues', 'pull_request', 'pull_request_review'] as const),
  ...(['repository', 'installation', 'installation_repositories'] as const),
] as const
export type KnownEvent = (typeof knownEvents)[number]

export function isKnownEvent(event: string): event is KnownEvent {
  return (knownEvents as readonly string[]).includes(event)
}

/** Plans for an event of a linked repository. Others are ignored. */
const forLinked = async <Payload extends OfRepository>(
  { db, operations }: PlanContext,
  payload: Payload,
  plan: (repository: LinkedRepository) => Promise<Plan>,
): Promise<Plan> => {
  const { repository, installation } = payload
  const known = { repositoryId: repository.id, providerInstallationId: installation.id }
  const linked = await findRepositoryOfWebhook(db, known)
  if (!linked) return nothing('not_linked')
  if (linked.fullName === repository.full_name && linked.defaultBranch === repository.default_branch)
    return plan(linked)
  // Webhooks may arrive in any order, so GitHub is asked for the name of today.
  const now = await operations.readRepository(linked)
  if (!now) return nothing('repository_gone')
  await renameRepository(db, { repositoryId: linked.repositoryId, ...now })
  return plan({ ...linked, ...now })
}

const planPullRequest = async (
  repository: LinkedRepository,
  { action, pull_request: pull }: payloads.PullRequestEvent,
): Promise<Plan> => {
  if (action !== 'closed') return nothing('ignored')
  const kind = pull.merged || pull.merged_at ? 'merged' : 'closed'
  return { kind: 'signal', signal: { kind, repository, pullRequestNumber: pull.number } }
}

const planRepository = async (context: PlanContext, event: payloads.RepositoryEvent): Promise<Plan> => {
  const { action, repository, installation, changes } = event
  const { runs } = context
  if (action === 'deleted')
    return { kind: 'change', outcome: 'unlinked', apply: (tx) => unlinkRepository(tx, runs, repository.id) }
  if (action === 'transferred') {
    const from = changes?.owner?.from
    const owner = from?.organization?.login ?? from?.user?.login ?? null
    return {
      kind: 'change',
      outcome: 'unlinked',
      apply: (tx) => unlinkRepository(tx, runs, repository.id, owner),
    }
  }
  if (!installation) return nothing('ignored')
  return forLinked(context, { repository, installation }, async () => nothing('ignored'))
}

/** Returns the plan for a webhook. Throws GithubUnavailable and GithubRefused. */
export async function planWebhook(context: PlanContext, event: KnownEvent, body: Buffer): Promise<Plan> {
  const triggers: TriggerContext = { ...context, slug: context.app.slug }
  const { runs } = context
  const parsed = payloads.parseBody(body)
  const read = <Schema extends z.ZodType>(
    schema: Schema,
    plan: (payload: z.output<Schema>) => Promise<Plan>,
  ): Promise<Plan> | Plan => {
    const result = schema.safeParse(parsed)
    return result.success
      ? plan(result.data)
      : nothing(`unreadable: ${result.error.issues[0]?.path.join('.')}`)
  }
  switch (event) {
    case 'issue_comment':
      return read(payloads.issueComment, (payload) =>
        forLinked(context, payload, (repository) => planIssueComment(triggers, repository, payload)),
      )
    case 'issues':
      return read(payloads.issues, (payload) =>
        forLinked(context, payload, (repository) => planIssue(triggers, repository, payload)),
      )
    case 'pull_request':
      return read(payloads.pullRequest, (payload) =>
        forLinked(context, payload, (repository) => planPullRequest(repository, payload)),
      )
    case 'pull_request_review':
      return read(payloads.pullRequestReview, (payload) =>
        forLinked(context, payload, (repository) => planReview(triggers, repository, payload)),
      )
    case 'repository':
      return read(payloads.repositoryEvent, (payload) => planRepository(context, payload))
    case 'installation':
      return read(payloads.installationEvent, async ({ action, installation }) =>
        action === 'deleted'
          ? {
              kind: 'change',
              outcome: 'unlinked',
              apply: (tx) => unlinkAtProvider(tx, runs, installation.id, null),
            }
          : nothing('ignored'),
      )
    case 'installation_repositories':
      return read(
        payloads.installationRepositories,
        async ({ action, installation, repositories_removed }) =>
          action === 'removed'
            ? {
                kind: 'change',
                outcome: 'unlinked',
                apply: (tx) =>
                  unlinkAtProvider(
                    tx,
                    runs,
                    installation.id,
                    repositories_removed.map(({ id }) => id),
                  ),
              }
            : nothing('ignored'),
      )
  }
}
