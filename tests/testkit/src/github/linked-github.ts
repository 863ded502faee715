/** A control plane whose webhooks come from the stand-in of GitHub, and what reaches the Runs. */
import type { CompositionOptions } from '@dock/control-plane/composition'
import { sql } from 'kysely'
import type { TestControlPlane } from '../test-control-plane.ts'
import type { GithubDelivery } from './github-webhooks.ts'
import type { GithubRepository } from './github-world.ts'
import type { Github } from './start-github.ts'

type RunSink = NonNullable<CompositionOptions['runs']>
type Trigger = Parameters<RunSink['startRun']>[1]
type Signal = Parameters<RunSink['signalRun']>[1]

export type RecordedRuns = {
  sink: RunSink
  triggers: Trigger[]
  signals: Signal[]
  /** The numbers of pull requests that count as made by a Run. */
  pulls: Set<number>
}

/** Records triggers and signals instead of running anything. */
export function recordRuns(): RecordedRuns {
  const recorded: RecordedRuns = {
    triggers: [],
    signals: [],
    pulls: new Set(),
    sink: {
      startRun: async (_, trigger) => {
        recorded.triggers.push(trigger)
        return { outcome: 'started', runId: null }
      },
      signalRun: async (_, signal) => {
        recorded.signals.push(signal)
        return true
      },
      isRunPullRequest: async (_, __, number) => recorded.pulls.has(number),
      wake: () => undefined,
    },
  }
  return recorded
}

/** Sends the webhooks of the stand-in to a control plane, in memory. */
export function connectWebhooks(server: TestControlPlane, github: Github): void {
  github.webhooks.send = async (headers, body) =>
    (await server.fetch('/v1/github/events', { method: 'POST', headers, body })).status
}

/** Waits until a webhook is processed, and returns what followed. */
export async function outcomeOf(
  server: TestControlPlane,
  { guid }: Pick<GithubDelivery, 'guid'>,
): Promise<string> {
  for (;;) {
    const { rows } = await sql<{ outcome: string }>`select outcome from github_webhooks
      where delivery_id = ${guid} and processed_at is not null`.execute(server.database.db)
    if (rows[0]) return rows[0].outcome
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const post = async <Data>(
  server: TestControlPlane,
  session: { cookie: string; origin: string },
  path: string,
  body: object,
): Promise<Data> => {
  const response = await server.fetch(path, {
    method: 'POST',
    headers: { ...session, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { ok: boolean; data: Data }
  if (!answer.ok) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`)
  return answer.data
}

/** Sign-ins are limited, so each server has one. */
const sessions = new WeakMap<TestControlPlane, ReturnType<TestControlPlane['signIn']>>()

/** Sends a request in a session and returns its data. */
type PostInSession = <Data>(path: string, body: object) => Promise<Data>

/** Links repositories to a workspace, as their admin `login` at the stand-in. Returns the installation's id. */
export async function linkInSession(
  postInSession: PostInSession,
  { github, workspaceId, login }: { github: Github; workspaceId: string; login: string },
  ...repositories: GithubRepository[]
): Promise<string> {
  const { url } = await postInSession<{ url: string }>('/v1/github/links', { workspaceId })
  const state = new URL(url).searchParams.get('state')
  const code = github.personCode(login)
  const { selection } = await postInSession<{ selection: string }>('/v1/github/links/authorize', {
    ...{ workspaceId, state, code },
  })
  const repositoryIds = repositories.map(({ id }) => id)
  const [installation] = await postInSession<[{ id: string }]>('/v1/github/installations', {
    ...{ workspaceId, selection, repositoryIds },
  })
  return installation.id
}

/** Links repositories to the first workspace of a control plane in this process. Returns the installation's id. */
export async function linkAtGithub(
  server: TestControlPlane,
  github: Github,
  login: string,
  ...repositories: GithubRepository[]
): Promise<string> {
  const signedIn = sessions.get(server) ?? server.signIn()
  sessions.set(server, signedIn)
  const session = await signedIn
  const { workspaceId } = server.admin
  return linkInSession(
    (path, body) => post(server, session, path, body),
    { github, workspaceId, login },
    ...repositories,
  )
}
