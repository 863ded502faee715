/** Makes the GitHub App, links repositories of the stand-in of GitHub, and starts Runs that stand at different points. */
import type { Run } from '@dock/contract'
import { linkInSession } from '@dock/testkit/src/github/linked-github.ts'
import type { Github } from '@dock/testkit/src/github/start-github.ts'
import type { Server } from '../../e2e/support/server.ts'
import { type InSession, signIn } from '../../e2e/support/session.ts'
import { eventually } from '../runs/run-proof.ts'

export type LivelyGithub = {
  installationId: string
  /** Ids of three Runs: the agent works, a pull request is open, and the agent failed. */
  atWork: string
  proposed: string
  failed: string
}

const lastingMs = 600_000
const hostile = '<img src=x onerror=alert(1)>'
const working = `echo 'Reading the issue …'; echo '${hostile}'; echo x >file; for i in $(seq 40); do echo "test $i passed"; done; sleep 3600`
const proposing = 'echo fixed >file; echo done'
const failing = "echo 'The tests need a database.' >&2; exit 3"

const makeApp = async (ask: InSession, github: Github, server: Server): Promise<void> => {
  const { url } = await ask<{ url: string }>('POST', '/v1/github/app/manifest', {})
  const state = new URL(url).searchParams.get('state')
  github.world.app.hookUrl = `${server.admin.baseUrl}/v1/github/events`
  await ask('POST', '/v1/github/app', { code: github.manifestCode(), state })
}

export async function makeLivelyGithub(server: Server, github: Github): Promise<LivelyGithub> {
  const { client, admin } = server
  const { workspaceId } = admin
  const ask = await signIn(admin)
  await makeApp(ask, github, server)
  const repositories = ['acme/web-shop', 'acme/nightly-report'].map((name) =>
    github.world.addRepository(name, { ada: 'admin' }),
  )
  for (const each of repositories) await github.git.create(each, { README: 'one\n' })
  github.world.install(...repositories)
  const installationId = await linkInSession(
    (path, body) => ask('POST', path, body),
    { github, workspaceId, login: 'ada' },
    ...repositories,
  )
  const where = { params: { id: installationId }, query: { workspaceId } }
  await client.call('updateInstallation', { ...where, body: { agent: 'command' } })

  const runOf = async (issueNumber: number): Promise<Run | undefined> =>
    (await client.call('listRuns', { query: { workspaceId } })).find((run) => run.issueNumber === issueNumber)
  /** Starts a Run by a mention, and waits until it has come so far. */
  const start = async (
    commandTemplate: string,
    title: string,
    isThere: (run: Run) => boolean | Promise<boolean>,
  ) => {
    await client.call('updateInstallationSettings', {
      ...where,
      body: { commandTemplate, executionTarget: 'dock', timeoutSeconds: 3600 },
    })
    const body = `@${github.world.app.slug} Please.`
    const { issue } = await github.openIssue(repositories[0]!, 'ada', { title, body })
    return eventually(
      `the Run “${title}”`,
      async () => {
        const run = await runOf(issue.number)
        return run && (await isThere(run)) ? run.id : null
      },
      lastingMs,
    )
  }
  const proposed = await start(proposing, 'The cart forgets its goods', ({ prNumber }) => prNumber !== null)
  const failed = await start(failing, hostile, ({ state }) => state === 'failed')
  const atWork = await start(working, 'Prices have no currency', async ({ id }) => {
    const { text } = await client.call('readRunLog', { params: { id }, query: { offset: 0 } })
    return text.includes('test 40 passed')
  })
  return { installationId, proposed, failed, atWork }
}
