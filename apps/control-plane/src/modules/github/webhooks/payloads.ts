/** The parts of GitHub's webhooks that are read. Everything else in them is ignored. */
import * as z from 'zod'

const id = z.int().positive()
const number = z.int().positive()
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')
const time = z.string().transform((value, context) => {
  const at = new Date(value)
  if (!Number.isNaN(at.getTime())) return at
  context.addIssue('must be a time')
  return z.NEVER
})
const account = z.object({ id, login: z.string().min(1).max(100), type: z.string() })
const repository = z.object({
  id,
  full_name: z.string().min(3).max(300),
  default_branch: z.string().min(1).max(256),
})
const installation = z.object({ id })
const via = z.object({ id }).nullish()
const issue = z.object({
  id,
  number,
  title: z.string(),
  body: text,
  // Some webhooks about an issue leave it out.
  state: z.string().default('open'),
  user: account.nullish(),
  created_at: time,
  updated_at: time,
  pull_request: z.unknown().optional(),
  performed_via_github_app: via,
})

const ofRepository = { action: z.string(), installation, repository, sender: account }

export const issueComment = z.object({
  ...ofRepository,
  issue,
  comment: z.object({
    id,
    body: text,
    user: account.nullish(),
    created_at: time,
    performed_via_github_app: via,
  }),
})
export const issues = z.object({
  ...ofRepository,
  issue,
  label: z.object({ id, name: z.string() }).nullish(),
})
const pull = z.object({
  number,
  title: z.string(),
  body: text,
  merged: z.boolean().nullish(),
  merged_at: z.string().nullish(),
  head: z.object({ repo: z.object({ id }).nullish() }),
})
export const pullRequest = z.object({ ...ofRepository, pull_request: pull })
export const pullRequestReview = z.object({
  ...ofRepository,
  pull_request: pull,
  review: z.object({
    id,
    body: text,
    state: z.string(),
    user: account.nullish(),
    submitted_at: time,
  }),
})
export const repositoryEvent = z.object({
  action: z.string(),
  installation: installation.nullish(),
  repository,
  changes: z
    .object({
      owner: z
        .object({
          from: z.object({
            user: z.object({ login: z.string() }).nullish(),
            organization: z.object({ login: z.string() }).nullish(),
          }),
        })
        .nullish(),
    })
    .nullish(),
})
export const installationEvent = z.object({ action: z.string(), installation })
export const installationRepositories = z.object({
  action: z.string(),
  installation,
  repositories_removed: z.array(z.object({ id })),
})

const concerned = z.object({
  installation: installation.nullish().catch(null),
  repository: installation.nullish().catch(null),
})

/**
 * Returns which installation and repository a webhook concerns, and what of its body is kept until it is processed. A list
 * of repositories may have megabytes. Little of it is read.
 */
export function readConcern(
  event: string,
  body: Buffer,
): { installationId: number | null; repositoryId: number | null; kept: Buffer } {
  const parsed = parseBody(body)
  const { data } = concerned.safeParse(parsed)
  const list =
    event === 'installation'
      ? installationEvent.safeParse(parsed)
      : event === 'installation_repositories'
        ? installationRepositories.safeParse(parsed)
        : undefined
  return {
    installationId: data?.installation?.id ?? null,
    repositoryId: data?.repository?.id ?? null,
    kept: list?.success ? Buffer.from(JSON.stringify(list.data)) : body,
  }
}

export type WebhookRepository = z.output<typeof repository>
export type WebhookAccount = z.output<typeof account>
export type IssueCommentEvent = z.output<typeof issueComment>
export type IssuesEvent = z.output<typeof issues>
export type PullRequestEvent = z.output<typeof pullRequest>
export type PullRequestReviewEvent = z.output<typeof pullRequestReview>
export type RepositoryEvent = z.output<typeof repositoryEvent>

/** Parses a body, which GitHub sends as JSON or as a form with JSON in it. Returns undefined if it is neither. */
export function parseBody(body: Buffer): unknown {
  const sent = body.toString('utf8')
  try {
    return JSON.parse(sent.startsWith('payload=') ? (new URLSearchParams(sent).get('payload') ?? '') : sent)
  } catch {
    return undefined
  }
}
