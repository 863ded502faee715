/** The stand-in is what GitHub's own clients and example webhooks expect, and Dock's client is what the stand-in expects. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as payloads from '@dock/control-plane/src/modules/github/webhooks/payloads.ts'
import { isKnownEvent } from '@dock/control-plane/src/modules/github/webhooks/plan-webhook.ts'
import { verifySignature } from '@dock/control-plane/src/modules/github/webhooks/verify-signature.ts'
import { App } from '@octokit/app'
import { Octokit } from '@octokit/rest'
import { Webhooks } from '@octokit/webhooks'
import examples from '@octokit/webhooks-examples/api.github.com/index.json' with { type: 'json' }
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestControlPlane, type TestControlPlane } from '../test-control-plane.ts'
import type { GithubRepository } from './github-world.ts'
import { linkAtGithub } from './linked-github.ts'
import { type Github, startGithub } from './start-github.ts'

const exec = promisify(execFile)
let github: Github
let repository: GithubRepository
let other: GithubRepository
let app: App
let installationId: number
const named = { owner: 'acme', repo: 'api' }

beforeAll(async () => {
  github = await startGithub()
  const { world } = github
  repository = world.addRepository('acme/api', { ada: 'admin', tim: 'triage' })
  other = world.addRepository('acme/other', { ada: 'admin' })
  for (const each of [repository, other]) await github.git.create(each, { 'README.md': 'hello\n' })
  installationId = world.install(repository, other).id
  const { id, privateKey, clientId, clientSecret, webhookSecret } = world.app
  app = new App({
    ...{ appId: id, privateKey, oauth: { clientId, clientSecret }, webhooks: { secret: webhookSecret } },
    Octokit: Octokit.defaults({ baseUrl: `${github.url}/api/v3` }),
  })
})
afterAll(() => github.close())

const tokenFor = async (ids: number[], permissions: Record<string, 'read' | 'write'>): Promise<string> => {
  const route = 'POST /app/installations/{installation_id}/access_tokens'
  const { data } = await app.octokit.request(route, {
    ...{ installation_id: installationId, repository_ids: ids, permissions },
  })
  return data.token
}
const git = (token: string, ...args: string[]) =>
  exec('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', ...args], {
    env: {
      ...{ PATH: process.env.PATH, HOME: tmpdir(), GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_COUNT: '1' },
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`,
    },
  })
/** Pushes a branch with one commit. */
const pushBranch = async (token: string, branch: string, name = 'acme/api'): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-github-test-'))
  try {
    await git(token, 'clone', '--quiet', `${github.url}/${name}.git`, folder)
    await writeFile(join(folder, `${branch.replaceAll('/', '-')}.txt`), branch)
    await git(token, '-C', folder, 'add', '.')
    await git(token, '-C', folder, 'commit', '--quiet', '-m', branch)
    await git(token, '-C', folder, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe('octokit', () => {
  it('authenticates as the App and as an installation, and reads and writes', async () => {
    const octokit = await app.getInstallationOctokit(installationId)
    const { issue } = await github.openIssue(repository, 'ada', { title: 'Broken' })
    const rest = octokit as unknown as Octokit
    expect((await rest.rest.repos.get(named)).data.default_branch).toBe('main')
    const one = { ...named, issue_number: issue.number }
    expect((await rest.rest.issues.get(one)).data.title).toBe('Broken')
    const comment = await rest.rest.issues.createComment({ ...one, body: 'Working' })
    expect(comment.data.user?.type).toBe('Bot')
    const comment_id = comment.data.id
    await rest.rest.issues.updateComment({ ...named, comment_id, body: 'Done' })
    expect((await rest.paginate(rest.rest.issues.listComments, one)).map(({ body }) => body)).toEqual([
      'Done',
    ])
    const permission = await rest.rest.repos.getCollaboratorPermissionLevel({ ...named, username: 'tim' })
    expect([permission.data.permission, permission.data.role_name]).toEqual(['read', 'triage'])
    await pushBranch(await tokenFor([repository.id], { contents: 'write' }), 'octo/one')
    const ref = await rest.rest.git.getRef({ ...named, ref: 'heads/octo/one' })
    const compared = await rest.rest.repos.compareCommitsWithBasehead({
      ...named,
      basehead: 'main...octo/one',
    })
    expect([compared.data.ahead_by, compared.data.files?.[0]?.filename]).toEqual([1, 'octo-one.txt'])
    const wanted = { ...named, title: 'Fix', head: 'octo/one', base: 'main', draft: true }
    const pull = await rest.rest.pulls.create(wanted)
    expect([pull.data.draft, pull.data.head.sha]).toEqual([true, ref.data.object.sha])
    await expect(rest.rest.pulls.create(wanted)).rejects.toMatchObject({ status: 422 })
    const check = { ...named, name: 'dock', head_sha: ref.data.object.sha }
    await rest.rest.checks.create({ ...check, status: 'completed', conclusion: 'success' })
    expect((await rest.rest.checks.listForRef({ ...named, ref: check.head_sha })).data.total_count).toBe(1)
  })

  it('is refused what the token does not cover', async () => {
    const token = await tokenFor([repository.id], { contents: 'read' })
    const octokit = new Octokit({ auth: token, baseUrl: `${github.url}/api/v3` })
    await expect(octokit.rest.repos.get({ owner: 'acme', repo: 'other' })).rejects.toMatchObject({
      status: 404,
    })
    const comment = octokit.rest.issues.createComment({ ...named, issue_number: 1, body: 'x' })
    await expect(comment).rejects.toMatchObject({ status: 403 })
    await expect(tokenFor([999_999], { contents: 'read' })).rejects.toMatchObject({ status: 422 })
    await expect(pushBranch(token, 'not/allowed')).rejects.toThrow(/403/)
    await expect(pushBranch(token, 'elsewhere', 'acme/other')).rejects.toThrow(/not found/)
    await expect(pushBranch('ghs_wrong', 'x')).rejects.toThrow()
    expect(await github.git.find(repository, 'refs/heads/not/allowed')).toBeNull()
  })
})

describe('webhooks', () => {
  it('are signed as GitHub signs them', async () => {
    const { webhookSecret } = github.world.app
    const octokit = new Webhooks({ secret: webhookSecret })
    const body = '{"zen":"ü"}'
    const signature = await octokit.sign(body)
    expect(verifySignature(webhookSecret, Buffer.from(body), signature)).toBe(true)
    expect(verifySignature(webhookSecret, Buffer.from(`${body} `), signature)).toBe(false)
    expect(verifySignature(webhookSecret, Buffer.from(body), undefined)).toBe(false)
    let seen = ''
    github.webhooks.send = async (headers, text) => {
      expect(await octokit.verify(text, headers['x-hub-signature-256']!)).toBe(true)
      seen = headers['x-github-event']!
      return 202
    }
    await github.openIssue(repository, 'ada')
    expect(seen).toBe('issues')
  })

  const schemas = {
    issue_comment: payloads.issueComment,
    issues: payloads.issues,
    pull_request: payloads.pullRequest,
    pull_request_review: payloads.pullRequestReview,
    repository: payloads.repositoryEvent,
    installation: payloads.installationEvent,
    installation_repositories: payloads.installationRepositories,
  }
  type Example = { name: string; examples: Record<string, unknown>[] }
  const known = (examples as unknown as Example[]).filter(({ name }) => isKnownEvent(name))

  it('of GitHub’s examples are all read', () => {
    expect(known).toHaveLength(7)
    for (const { name, examples: bodies } of known)
      for (const body of bodies) {
        // Examples of webhooks of a repository lack the installation, which those of an App have.
        const sent = { installation: { id: 1 }, ...body }
        const read = schemas[name as keyof typeof schemas].safeParse(sent)
        expect(read.error?.issues, `${name}.${String(body.action)}`).toBeUndefined()
      }
  })

  it('of the stand-in have no field that GitHub’s lack', async () => {
    github.webhooks.send = async () => 202
    const { issue } = await github.openIssue(repository, 'ada')
    await github.comment(repository, issue.number, 'ada', 'Hello')
    const { issue: pull } = await github.openPull(repository, 'ada', { head: 'octo/two' })
    await github.review(repository, pull.number, 'ada', { body: 'Hm' })
    /** Paths of a value, without indices of lists. */
    const pathsOf = (value: unknown, path = ''): string[] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([key, each]) =>
            pathsOf(each, Array.isArray(value) ? `${path}[]` : `${path}.${key}`),
          )
        : [path]
    for (const event of ['issues', 'issue_comment', 'pull_request', 'pull_request_review']) {
      const delivery = github.webhooks.deliveries.findLast((each) => each.event === event)!
      const bodies = known.find(({ name }) => name === event)!.examples
      const real = new Set([
        ...bodies.flatMap((body) => pathsOf(body)),
        ...['.installation.id', '.installation.node_id'],
      ])
      const withChildren = new Set(
        [...real].flatMap((path) =>
          path.split(/(?=\.)/).map((_, index, parts) => parts.slice(0, index + 1).join('')),
        ),
      )
      const own = pathsOf(JSON.parse(delivery.body) as unknown)
      expect(
        own.filter((path) => !real.has(path) && !withChildren.has(path)),
        event,
      ).toEqual([])
    }
  })
})

describe('the operations of Dock', () => {
  let server: TestControlPlane
  beforeAll(async () => {
    server = await startTestControlPlane({ environment: github.settings })
  })
  afterAll(() => server.stop())

  it('write each comment, check and pull request once', async () => {
    const installation = await linkAtGithub(server, github, 'ada', repository)
    const { operations } = server.controlPlane.github
    const linked = {
      ...{ installationId: installation, providerInstallationId: installationId },
      ...{ organizationId: server.admin.organizationId, workspaceId: server.admin.workspaceId },
      ...{ repositoryId: repository.id, fullName: 'acme/api', defaultBranch: 'main' },
    }
    const { token } = await operations.repositoryToken(linked, 'write')
    await pushBranch(token, 'dock/issue-1-abcdef')
    expect((await operations.repositoryToken(linked, 'write')).token).toBe(token)
    const branch = await operations.readBranch(linked, 'dock/issue-1-abcdef')
    expect(branch?.sha).toMatch(/^[0-9a-f]{40}$/)
    expect(await operations.readBranch(linked, 'dock/none')).toBeNull()
    expect(await operations.compare(linked, 'main', 'dock/issue-1-abcdef')).toMatchObject({ aheadBy: 1 })
    const text = { head: 'dock/issue-1-abcdef', base: 'main', title: 'Fix', body: 'Done' }
    const pulls = [
      await operations.ensurePullRequest(linked, text),
      await operations.ensurePullRequest(linked, text),
    ]
    expect(pulls[0]).toMatchObject({ isDraft: true, state: 'open', headSha: branch!.sha })
    expect(pulls[1]).toEqual(pulls[0])
    const status = { issueNumber: pulls[0]!.number, marker: 'run-1', commentId: null, body: 'Working' }
    const first = await operations.writeStatusComment(linked, status)
    expect(await operations.writeStatusComment(linked, { ...status, body: 'Done' })).toEqual(first)
    // A comment of somebody else with the marker is not ours.
    const forged = await github.comment(repository, pulls[0]!.number, 'tim', '<!-- dock:run-2 -->')
    const second = await operations.writeStatusComment(linked, { ...status, marker: 'run-2' })
    expect(second.commentId).not.toBe(forged.comment.id)
    const check = {
      ...{ checkRunId: null, externalId: 'run-1', name: 'Dock', headSha: branch!.sha, conclusion: null },
      ...{
        title: 'Working',
        summary: '',
        detailsUrl: 'https://dock.example.com',
        status: 'in_progress' as const,
      },
    }
    const made = await operations.writeCheckRun(linked, check)
    expect(
      await operations.writeCheckRun(linked, { ...check, status: 'completed', conclusion: 'success' }),
    ).toEqual(made)
    expect(await operations.readPermission(linked, { id: null, login: 'tim' })).toBe('read')
    // A token that was revoked is replaced.
    github.world.tokens.clear()
    expect(await operations.readPullRequest(linked, pulls[0]!.number)).toMatchObject({
      number: pulls[0]!.number,
    })
    github.faults.push({ matches: /pulls/, status: 429, times: 1, headers: { 'retry-after': '7' } })
    await expect(operations.readPullRequest(linked, 1)).rejects.toMatchObject({ retryAfterMs: 7_000 })
  })
})
