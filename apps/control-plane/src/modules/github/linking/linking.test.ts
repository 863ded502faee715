/** Linking repositories and making the App, with each code of the contract. */
import {
  addPerson,
  type Github,
  linkAtGithub,
  startGithub,
  startTestControlPlane,
  type TestControlPlane,
  type TestPerson,
} from '@dock/testkit'
import { auditEntries, auditTells } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let github: Github
let server: TestControlPlane
let other: TestPerson
let workspaceId: string

const as = async (
  on: TestControlPlane,
  cookie: string,
  method: string,
  path: string,
  body?: object,
): Promise<{
  status: number
  code?: string
  data: Record<string, unknown> & { url: string; selection: string }
}> => {
  const response = await on.fetch(path, {
    method,
    headers: { cookie, origin: on.config.apiUrl, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: response.status, ...((await response.json()) as object) } as never
}
let cookie: string
const post = (path: string, body: object, who = cookie) => as(server, who, 'POST', path, body)
const stateOf = (url: string): string => new URL(url).searchParams.get('state')!
const start = async (): Promise<string> => stateOf((await post('/v1/github/links', { workspaceId })).data.url)
const authorize = (state: string, code: string, who = cookie) =>
  post('/v1/github/links/authorize', { workspaceId, state, code }, who)
const link = (selection: string, repositoryIds: number[], who = cookie) =>
  post('/v1/github/installations', { workspaceId, selection, repositoryIds }, who)
const choose = async (login: string): Promise<string> =>
  (await authorize(await start(), github.personCode(login))).data.selection

beforeAll(async () => {
  github = await startGithub()
  server = await startTestControlPlane({ environment: github.settings })
  cookie = (await server.signIn()).cookie
  workspaceId = server.admin.workspaceId
  other = await addPerson(server, { role: 'admin', organizationId: server.admin.organizationId })
})
afterAll(async () => {
  await server.stop()
  await github.close()
})

describe('linking', () => {
  it('offers what the person administers, not what they may read or write', async () => {
    const mine = github.world.addRepository('acme/mine', { ada: 'admin', bob: 'read' })
    const theirs = github.world.addRepository('acme/theirs', { ada: 'maintain', bob: 'admin' })
    const elsewhere = github.world.addRepository('acme/without-app', { ada: 'admin' })
    const { id } = github.world.install(mine, theirs)
    const answer = await authorize(await start(), github.personCode('ada'))
    expect(answer.data).toMatchObject({
      isComplete: true,
      installUrl: `${github.url}/github-apps/dock-test/installations/new`,
      installations: [
        {
          installationId: id,
          account: 'acme',
          repositories: [{ repositoryId: mine.id, fullName: 'acme/mine', isPrivate: true }],
        },
      ],
    })
    for (const { id: repositoryId } of [theirs, elsewhere])
      expect((await link(answer.data.selection, [mine.id, repositoryId])).code).toBe(
        'installation_not_accessible',
      )
    const linked = await link(answer.data.selection, [mine.id])
    expect(linked).toMatchObject({ status: 201, data: [{ installationId: id, repos: ['acme/mine'] }] })
    expect((await link(answer.data.selection, [mine.id])).code).toBe('invalid_state')
  })

  it('needs a state of the same person and workspace, once and in time', async () => {
    const code = () => github.personCode('ada')
    expect((await authorize('nonsense', code())).code).toBe('invalid_state')
    const state = await start()
    expect((await authorize(state, code(), other.cookie)).code).toBe('invalid_state')
    const twice = await Promise.all(Array.from({ length: 20 }, () => authorize(state, code())))
    expect(twice.filter(({ status }) => status === 200)).toHaveLength(1)
    const late = await start()
    await sql`update github_states set expires_at = now() - interval '1 second'`.execute(server.database.db)
    expect((await authorize(late, code())).code).toBe('invalid_state')
  })

  it('stores no state in the clear, and no more than twenty of a person', async () => {
    for (let index = 0; index < 3; index += 1) await start()
    const state = await start()
    const { rows } = await sql<{
      text: string
    }>`select encode(hash, 'escape') as text from github_states`.execute(server.database.db)
    expect(rows.length).toBeLessThanOrEqual(20)
    expect(rows.map(({ text }) => text)).not.toContain(state)
  })

  it('says invalid_code, github_unavailable and unavailable', async () => {
    expect((await authorize(await start(), 'wrong')).code).toBe('invalid_code')
    github.faults.push({ matches: /access_token/, status: 502, times: 1 })
    expect((await authorize(await start(), github.personCode('ada'))).code).toBe('github_unavailable')
    github.faults.push({ matches: /user\/installations$/, status: 429, times: 1 })
    expect((await authorize(await start(), github.personCode('ada'))).code).toBe('github_unavailable')
    const state = await start()
    const { db } = server.database
    await sql`alter table github_states rename to github_states_away`.execute(db)
    expect((await post('/v1/github/links', { workspaceId })).code).toBe('unavailable')
    expect((await authorize(state, 'x')).code).toBe('unavailable')
    await sql`alter table github_states_away rename to github_states`.execute(db)
  })

  it('gives a repository to one workspace', async () => {
    const shared = github.world.addRepository('acme/shared', { ada: 'admin' })
    github.world.install(shared)
    const path = `/v1/organizations/${server.admin.organizationId}/workspaces`
    const made = await server.call('POST', path, { name: 'Second' })
    const second = (made.body.data as { id: string }).id
    await linkAtGithub(server, github, 'ada', shared)
    const begun = await post('/v1/github/links', { workspaceId: second })
    const state = stateOf(begun.data.url)
    const chosen = await post('/v1/github/links/authorize', {
      workspaceId: second,
      state,
      code: github.personCode('ada'),
    })
    const body = { selection: chosen.data.selection, repositoryIds: [shared.id] }
    expect((await post('/v1/github/installations', { workspaceId, ...body })).code).toBe('invalid_state')
    expect((await post('/v1/github/installations', { workspaceId: second, ...body })).code).toBe('conflict')
  })

  it('of 20 at once, one links', async () => {
    const raced = github.world.addRepository('acme/raced', { ada: 'admin' })
    github.world.install(raced)
    const selection = await choose('ada')
    const answers = await Promise.all(Array.from({ length: 20 }, () => link(selection, [raced.id])))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  })
})

it('settings and agent of an installation are changed by admins of its workspace', async () => {
  const repository = github.world.addRepository('acme/settings', { ada: 'admin' })
  github.world.install(repository)
  const id = await linkAtGithub(server, github, 'ada', repository)
  const path = `/v1/github/installations/${id}`
  const query = `?workspaceId=${workspaceId}`
  const change = { label: 'dock', budgetCents: 100, executionTarget: 'fast' }
  const changed = await server.call('PATCH', `${path}/settings${query}`, change)
  expect(changed.body.data).toMatchObject({ ...change, timeoutSeconds: 3600, allowWorkflowFiles: false })
  expect((await server.call('GET', `${path}/settings${query}`)).body.data).toEqual(changed.body.data)
  const environmentId = crypto.randomUUID()
  expect((await server.call('PATCH', `${path}/settings${query}`, { environmentId })).body.code).toBe(
    'environment_not_found',
  )
  const agent = await server.call('PATCH', `${path}${query}`, { agent: 'codex', testCommand: 'npm test' })
  expect(agent.body.data).toMatchObject({ agent: 'codex', testCommand: 'npm test' })
  const elsewhere = `?workspaceId=${crypto.randomUUID()}`
  for (const [method, of] of [
    ['GET', path],
    ['PATCH', `${path}/settings`],
    ['DELETE', path],
  ] as const) {
    const body = method === 'PATCH' ? {} : undefined
    expect((await server.call(method, of + elsewhere, body)).body.code).toBe('installation_not_found')
  }
})

describe('the App', () => {
  it('is made by the manifest flow, works, and its secrets are sealed', async () => {
    const bare = await startTestControlPlane({ environment: { GITHUB_URL: github.url } })
    try {
      const session = (await bare.signIn()).cookie
      const own = (method: string, path: string, body?: object) => as(bare, session, method, path, body)
      const ids = { workspaceId: bare.admin.workspaceId }
      expect((await own('POST', '/v1/github/links', ids)).code).toBe('github_app_oauth_not_configured')
      expect((await own('GET', '/v1/github/app')).data).toMatchObject({ configured: false, source: null })
      // The body is not read: one of this length would be refused with 400.
      const sent = await bare.fetch('/v1/github/events', {
        method: 'POST',
        body: '{}',
        headers: { 'content-length': String(9 * 1024 * 1024) },
      })
      expect(sent.status).toBe(404)
      const made = await own('POST', '/v1/github/app/manifest', { owner: 'acme' })
      const { url, manifest, state } = made.data as unknown as Record<string, string>
      expect(url).toBe(`${github.url}/organizations/acme/settings/apps/new?state=${state}`)
      // The browser posts the form, and GitHub sends it back.
      const body = new URLSearchParams({ manifest: manifest! })
      const visited = await fetch(url!, { method: 'POST', body, redirect: 'manual' })
      const back = new URL(visited.headers.get('location')!)
      expect([back.pathname, back.searchParams.get('state')]).toEqual(['/github/app', state])
      const code = back.searchParams.get('code')!
      expect((await own('POST', '/v1/github/app', { code, state: 'x' })).code).toBe('invalid_state')
      github.faults.push({ matches: /conversions/, status: 503, times: 1 })
      expect((await own('POST', '/v1/github/app', { code, state })).code).toBe('github_unavailable')
      const again = async () =>
        ((await own('POST', '/v1/github/app/manifest', {})).data as unknown as { state: string }).state
      expect((await own('POST', '/v1/github/app', { code: 'x', state: await again() })).code).toBe(
        'invalid_code',
      )
      const created = await own('POST', '/v1/github/app', { code, state: await again() })
      expect(created.data).toMatchObject({ configured: true, source: 'manifest', slug: 'dock-test' })
      expect((await bare.call('GET', '/v1/config')).body.data).toMatchObject({ githubAppConfigured: true })
      expect((await own('POST', '/v1/github/app/manifest', {})).code).toBe('conflict')
      const { rows } = await sql<{
        text: string
      }>`select row_to_json(a)::text as text from github_apps a`.execute(bare.database.db)
      for (const secret of ['clientSecret', 'webhookSecret', 'privateKey'] as const)
        expect(rows[0]!.text).not.toContain(github.world.app[secret].slice(0, 20))
      const repository = github.world.addRepository('acme/by-manifest', { ada: 'admin' })
      github.world.install(repository)
      await linkAtGithub(bare, github, 'ada', repository)
      expect((await own('DELETE', '/v1/github/app')).data).toEqual({ removed: true })
      expect((await own('GET', `/v1/github/installations?workspaceId=${ids.workspaceId}`)).data).toEqual([])
      expect((await own('GET', '/v1/github/app')).data).toMatchObject({ configured: false })
      const { db } = bare.database
      const appOf = (action: string) => ({
        action,
        through: 'session',
        target: ['provider', 'github', 'dock-test'],
      })
      const told = (await auditEntries(db, null)).filter(({ action }) => action.startsWith('github.'))
      expect(await auditEntries(db, bare.admin.organizationId)).toContainEqual(
        expect.objectContaining({
          ...{ action: 'github.unlinked', target: ['workspace', ids.workspaceId, null] },
          details: { repositories: 'acme/by-manifest', count: 1 },
        }),
      )
      expect(told).toMatchObject([appOf('github.app_created'), appOf('github.app_deleted')])
      for (const secret of ['clientSecret', 'webhookSecret', 'privateKey'] as const)
        expect(await auditTells(db, github.world.app[secret].slice(0, 20))).toBe(false)
    } finally {
      await bare.stop()
    }
  })

  it('of the settings comes first, and is not replaced', async () => {
    expect((await as(server, cookie, 'GET', '/v1/github/app')).data).toMatchObject({ source: 'settings' })
    expect((await post('/v1/github/app/manifest', {})).code).toBe('conflict')
    expect((await as(server, cookie, 'DELETE', '/v1/github/app')).code).toBe('conflict')
  })
})
