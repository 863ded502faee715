/** Tests which credential the git gateway adds to a Dock's request, and for which requests it has none. */
import type { Environment } from '@dock/contract'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { type GitProviderServer, startGitProvider } from '@dock/testkit/src/git-provider.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { storeGrant } from '../accounts/index.ts'
import { findMembership } from '../organizations/index.ts'
import { type Connector, ProviderUnavailable } from './connector.ts'
import { createEnvironmentGrants, type GrantFor } from './git-grant.ts'
import { findRule } from './git-policy.ts'
import { createLinkedSignIns } from './linked-sign-ins.ts'

let server: ControlPlaneWithHost
let provider: GitProviderServer
let hostId: string
let admin: TestPerson
let environment: Environment
const lines: string[] = []

let grantFor: GrantFor
let connector: Connector

beforeAll(async () => {
  provider = await startGitProvider()
  server = await startControlPlaneWithHost({
    environment: {
      GITHUB_URL: provider.url,
      GITHUB_CLIENT_ID: 'app',
      GITHUB_CLIENT_SECRET: 'of the app',
      GITLAB_URL: `${provider.url}/lab`,
      GITLAB_CLIENT_ID: 'lab',
      GITLAB_CLIENT_SECRET: 'of the lab',
    },
    logTo: (line) => lines.push(line),
  })
  hostId = server.host.hostsWithControlLink()[0]!
  const { db } = server.database
  const { sealer } = server.controlPlane
  const logger = createLogger('connectors', { write: (line: string) => void lines.push(line) })
  connector = createLinkedSignIns({
    db,
    clock: systemClock,
    sealer,
    social: {
      github: { url: provider.url, clientId: 'app', clientSecret: 'of the app' },
      gitlab: { url: `${provider.url}/lab`, clientId: 'lab', clientSecret: 'of the lab' },
    },
    roleOf: async (userId, organizationId) =>
      (await findMembership(db, userId, organizationId))?.role ?? null,
  })
  grantFor = createEnvironmentGrants({ db, sealer, logger }, connector)
})
afterAll(async () => {
  await server.stop()
  await provider.close()
})
beforeEach(async () => {
  provider.asked.length = 0
  provider.status = null
  provider.expiresInMs = null
  admin = await addPerson(server, { role: 'admin' })
  const name = `env-${newUuid().slice(0, 8)}`
  environment = await made('/v1/environments', { organizationId: server.admin.organizationId, name })
})

const made = async <Thing>(path: string, body: unknown, key?: string): Promise<Thing> => {
  const answer = await server.call('POST', path, body, key)
  if (answer.status > 299) throw new Error(JSON.stringify(answer.body))
  return answer.body.data as Thing
}
const add = (person: TestPerson, fullName: string, name: 'github' | 'gitlab' = 'github') =>
  made(
    `/v1/environments/${environment.id}/repos`,
    { provider: name, repositoryId: fullName, fullName },
    person.apiKey,
  )
const change = (body: object) => server.call('PATCH', `/v1/environments/${environment.id}`, body)

/** Links the provider to the user's account, with a token that expires in `minutes`. Returns the token. */
const link = async (
  { userId }: TestPerson,
  name: 'github' | 'gitlab' = 'github',
  { minutes = 60, refreshToken = null as string | null } = {},
): Promise<string> => {
  const id = newUuid()
  const { db } = server.database
  await sql`insert into login_accounts (id, user_id, account_id, provider_id)
    values (${id}, ${userId}, ${id}, ${name})`.execute(db)
  const expiresAt = new Date(Date.now() + minutes * 60_000).toISOString()
  const grant = { accessToken: `canary-${name}-${id}`, refreshToken, expiresAt }
  await storeGrant({ db, sealer: server.controlPlane.sealer }, { id, userId, providerId: name }, grant)
  return grant.accessToken
}
const start = async (): Promise<string> => {
  const body = { workspaceId: server.admin.workspaceId, environment: environment.name }
  return (await made<{ id: string }>('/v1/docks', body)).id
}
/** Returns the credential that the gateway would add for a repository, or null if it would refuse the request. */
const ask = async (
  dockId: string,
  fullName: string,
  { provider: name = 'github' as 'github' | 'gitlab', generation = 1, from = hostId } = {},
) => {
  const grant = await grantFor({ dockId, hostId: from, generation })
  const rule = grant && findRule(grant.policy, { provider: name, fullName })
  if (!grant || !rule) return null
  try {
    return await grant.credentialFor(rule)
  } catch (error) {
    if (error instanceof ProviderUnavailable) return 'unavailable'
    throw error
  }
}

it('narrows the token of the user who added the repository to this repository', async () => {
  const token = await link(admin)
  await add(admin, 'acme/app')
  const dock = await start()
  const credential = { username: 'x-access-token', password: `for acme/app of ${token}` }
  expect(await ask(dock, 'acme/app')).toEqual(credential)
  expect(await ask(dock, 'Acme/APP')).toEqual(credential)
  expect(provider.asked[0]).toEqual({
    path: '/api/v3/applications/app/token/scoped',
    body: { access_token: token, target: 'acme', repositories: ['app'] },
    authorization: `Basic ${Buffer.from('app:of the app').toString('base64')}`,
  })
})

it('uses a GitLab token without narrowing it', async () => {
  const token = await link(admin, 'gitlab')
  await add(admin, 'acme/group/tool', 'gitlab')
  const dock = await start()
  const credential = { username: 'oauth2', password: token }
  expect(await ask(dock, 'acme/group/tool', { provider: 'gitlab' })).toEqual(credential)
  expect(await ask(dock, 'lab/acme/group/tool', { provider: 'gitlab' })).toBeNull()
})

it('gives no credential for another repository, provider, host, boot or Dock', async () => {
  await link(admin)
  await add(admin, 'acme/app')
  const [dock, foreign] = [await start(), await server.addDock()]
  expect(await ask(dock, 'acme/app')).not.toBeNull()
  for (const path of ['acme/app-other', 'acme/ap', 'acme/app.git', 'acme/app/x', 'acme', 'other/app'])
    expect([path, await ask(dock, path)]).toEqual([path, null])
  expect(await ask(dock, 'acme/app', { provider: 'gitlab' })).toBeNull()
  expect(await ask(dock, 'acme/app', { from: newUuid() })).toBeNull()
  expect(await ask(dock, 'acme/app', { generation: 2 })).toBeNull()
  expect(await ask(foreign, 'acme/app')).toBeNull()
  expect(await ask(newUuid(), 'acme/app')).toBeNull()
})

it('gives no credential if the version that the Dock is pinned to passes no repositories', async () => {
  await link(admin)
  await add(admin, 'acme/app')
  const before = await start()
  await change({ safeForThirdParties: true })
  const withheld = await start()
  await change({ safeForThirdParties: false, passGithub: false })
  const unpassed = await start()
  expect(await ask(before, 'acme/app')).not.toBeNull()
  expect(await ask(withheld, 'acme/app')).toBeNull()
  expect(await ask(unpassed, 'acme/app')).toBeNull()
})

it('uses only the account of the user who added the repository, while they are an admin, open and linked', async () => {
  const other = await addPerson(server, { role: 'admin' })
  await link(other)
  await add(admin, 'acme/app')
  const dock = await start()
  expect(await ask(dock, 'acme/app')).toBeNull()
  await link(admin)
  expect(await ask(dock, 'acme/app')).not.toBeNull()
  const { db } = server.database
  await sql`update memberships set role = 'member' where user_id = ${admin.userId}`.execute(db)
  expect(await ask(dock, 'acme/app')).toBeNull()
  await sql`update memberships set role = 'owner' where user_id = ${admin.userId}`.execute(db)
  expect(await ask(dock, 'acme/app')).not.toBeNull()
  await sql`update users set closed_at = now() where id = ${admin.userId}`.execute(db)
  expect(await ask(dock, 'acme/app')).toBeNull()
  await sql`update users set closed_at = null where id = ${admin.userId}`.execute(db)
  await sql`delete from login_accounts where user_id = ${admin.userId}`.execute(db)
  expect(await ask(dock, 'acme/app')).toBeNull()
})

it('refreshes a token that is about to expire once for concurrent requests, and stores it', async () => {
  provider.refreshTokens.add('first')
  await link(admin, 'gitlab', { minutes: 5, refreshToken: 'first' })
  await add(admin, 'acme/tool', 'gitlab')
  const dock = await start()
  const asked = await Promise.all([1, 2, 3, 4].map(() => ask(dock, 'acme/tool', { provider: 'gitlab' })))
  expect(asked).toEqual(Array(4).fill({ username: 'oauth2', password: 'renewed by first' }))
  expect(provider.asked).toEqual([
    expect.objectContaining({
      path: '/lab/oauth/token',
      body: {
        grant_type: 'refresh_token',
        refresh_token: 'first',
        client_id: 'lab',
        client_secret: 'of the lab',
      },
    }),
  ])
  expect(await ask(dock, 'acme/tool', { provider: 'gitlab' })).toEqual(asked[0])
  expect(provider.asked).toHaveLength(1)
})

it('retries a refresh after a temporary failure, and never again after the provider refuses it', async () => {
  await link(admin, 'gitlab', { minutes: 5, refreshToken: 'withdrawn' })
  await add(admin, 'acme/tool', 'gitlab')
  const dock = await start()
  provider.status = 503
  expect(await ask(dock, 'acme/tool', { provider: 'gitlab' })).toBe('unavailable')
  provider.status = null
  expect(await ask(dock, 'acme/tool', { provider: 'gitlab' })).toBeNull()
  expect(await ask(dock, 'acme/tool', { provider: 'gitlab' })).toBeNull()
  expect(provider.asked).toHaveLength(2)
})

it('uses a token that cannot be refreshed until it expires', async () => {
  await link(admin, 'gitlab', { minutes: 5 })
  await add(admin, 'acme/tool', 'gitlab')
  const dock = await start()
  expect(await ask(dock, 'acme/tool', { provider: 'gitlab' })).not.toBeNull()
  await sql`delete from login_accounts where user_id = ${admin.userId}`.execute(server.database.db)
  await link(admin, 'gitlab', { minutes: -1 })
  expect(await ask(dock, 'acme/tool', { provider: 'gitlab' })).toBeNull()
})

it('writes no token to the log, and none unsealed to the database', async () => {
  await link(admin, 'github', { refreshToken: 'canary-refresh' })
  await add(admin, 'acme/app')
  await ask(await start(), 'acme/app')
  expect(lines.join('\n')).toContain('has access to the repository')
  expect(lines.join('\n')).not.toContain('canary-')
  const { rows } = await sql<{ sealed: string }>`select grant_sealed as sealed from login_accounts
    where grant_sealed is not null`.execute(server.database.db)
  expect(rows.length).toBeGreaterThan(0)
  for (const { sealed } of rows) expect(sealed).not.toContain('canary')
})

it('restricts an Environment to admins only if its Docks can access its repositories', async () => {
  const member = await addPerson(server, { role: 'member' })
  const launch = async (): Promise<unknown> => {
    const body = { workspaceId: server.admin.workspaceId, environment: environment.name }
    const answer = await server.call('POST', '/v1/docks', body, member.apiKey)
    return answer.body.code ?? answer.status
  }
  const connections = async () =>
    (
      (await server.call('GET', `/v1/environments/${environment.id}`, undefined, member.apiKey)).body
        .data as Environment
    ).connections
  const none = { github: { connected: false }, gitlab: { connected: false } }
  await change({ secretsAccess: 'members' })
  await add(admin, 'acme/app')
  // None of these gives access: a member's link, another admin's link, a link to another provider, a link without
  // tokens.
  await link(member)
  await link(await addPerson(server, { role: 'admin' }))
  await link(admin, 'gitlab')
  await sql`insert into login_accounts (user_id, account_id, provider_id)
    values (${admin.userId}, ${newUuid()}, 'github')`.execute(server.database.db)
  expect([await launch(), await connections()]).toEqual([201, none])
  await link(admin)
  expect(await launch()).toBe('connector_admin_only')
  expect(await connections()).toEqual({ ...none, github: { connected: true } })
  const template = { dockId: await start(), name: `from-${environment.name}` }
  await made('/v1/templates', template)
  const body = { workspaceId: server.admin.workspaceId, from: template.name, noEnv: true }
  expect((await server.call('POST', '/v1/docks', body, member.apiKey)).body.code).toBe('connector_admin_only')
  const { db } = server.database
  await sql`update users set closed_at = now() where id = ${admin.userId}`.execute(db)
  expect([await launch(), await connections()]).toEqual([201, none])
  await sql`update users set closed_at = null where id = ${admin.userId}`.execute(db)
  expect(await launch()).toBe('connector_admin_only')
  await sql`update memberships set role = 'member' where user_id = ${admin.userId}`.execute(db)
  expect([await launch(), await connections()]).toEqual([201, none])
  // The user's role in another organization does not count.
  const elsewhere = newUuid()
  await sql`insert into organizations (id, name, slug) values (${elsewhere}, 'E', ${elsewhere})`.execute(db)
  await sql`insert into memberships (organization_id, user_id, role)
    values (${elsewhere}, ${admin.userId}, 'owner')`.execute(db)
  expect([await launch(), await connections()]).toEqual([201, none])
})

it('reuses a narrowed token until it is about to expire or the provider refuses it', async () => {
  await link(admin)
  await add(admin, 'acme/app')
  const dock = await start()
  const grant = (await grantFor({ dockId: dock, hostId, generation: 1 }))!
  const [rule] = grant.policy
  const given = await Promise.all([1, 2, 3].map(() => grant.credentialFor(rule!)))
  expect(await ask(dock, 'acme/app')).toEqual(given[0])
  expect(provider.asked).toHaveLength(1)
  grant.forget(given[0]!)
  await expect.poll(async () => (await ask(dock, 'acme/app')) && provider.asked.length).toBe(2)
  provider.expiresInMs = 10 * 60_000
  grant.forget(given[0]!)
  await expect.poll(async () => (await ask(dock, 'acme/app')) && provider.asked.length).toBe(3)
  await ask(dock, 'acme/app')
  expect(provider.asked).toHaveLength(4)
})

it('requests a read-only token for read access', async () => {
  await link(admin)
  const repository = {
    provider: 'github' as const,
    repositoryId: '1',
    fullName: 'acme/app',
    addedBy: admin.userId,
  }
  await connector.tokenFor(server.admin.organizationId, repository, 'read')
  expect(provider.asked[0]?.body).toMatchObject({ permissions: { contents: 'read' } })
})
