/** What the audit log tells of linked repositories, their settings, and Runs that a person starts or stops. */

import { newUuid } from '@dock/foundation'
import {
  type Github,
  linkAtGithub,
  startGithub,
  startTestControlPlane,
  type TestControlPlane,
} from '@dock/testkit'
import { auditEntries, auditTells } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

const canary = 'canary-77b2'

let github: Github
let server: TestControlPlane
let by: string
beforeAll(async () => {
  github = await startGithub()
  server = await startTestControlPlane({ environment: github.settings })
  by = (await server.database.db.selectFrom('users').select('id').executeTakeFirstOrThrow()).id
})
afterAll(async () => {
  await server.stop()
  await github.close()
})
beforeEach(() => sql`delete from audit_entries`.execute(server.database.db))

const call = async (method: string, path: string, body?: object) => {
  const { code, data } = (await server.call(method, path, body)).body
  return { outcome: code ?? 'succeeded', data: data as { id: string } }
}
/** Links a new repository with an issue. Sign-ins are recorded too, so only entries of this module and of Runs are told. */
const link = async (name: string) => {
  const repository = github.world.addRepository(name, { ada: 'admin' })
  github.world.install(repository)
  github.world.addIssue(repository, 'ada', 'Broken', 'It is broken.')
  return linkAtGithub(server, github, 'ada', repository)
}
const told = async () =>
  (await auditEntries(server.database.db, server.admin.organizationId)).filter(({ action }) =>
    /^(github|run)\./.test(action),
  )

it('tells who linked, changed and unlinked repositories, and no command', async () => {
  const { workspaceId } = server.admin
  const installation = await link('acme/audited')
  const path = `/v1/github/installations/${installation}`
  const query = `?workspaceId=${workspaceId}`
  const settings = { budgetCents: 100, commandTemplate: `run ${canary}` }
  await call('PATCH', `${path}/settings${query}`, settings)
  await call('PATCH', `${path}/settings${query}`, settings)
  await call('PATCH', `${path}${query}`, { agent: 'codex', testCommand: `test ${canary}` })
  await call('PATCH', `${path}${query}`, { agent: 'codex' })
  const environmentId = crypto.randomUUID()
  expect((await call('PATCH', `${path}/settings${query}`, { environmentId })).outcome).toBe(
    'environment_not_found',
  )
  await call('DELETE', `${path}${query}`)
  expect((await call('DELETE', `${path}${query}`)).outcome).toBe('installation_not_found')
  const entry = (action: string, through: string, details: object) => ({
    ...{ action, outcome: 'succeeded', through, by, target: ['workspace', workspaceId, null] },
    details: { repositories: 'acme/audited', ...details },
  })
  expect(await told()).toEqual([
    entry('github.linked', 'session', { count: 1 }),
    entry('github.changed', 'api_key', {
      ...{ budgetCents: 100, budgetCentsBefore: expect.any(Number), changed: 'commandTemplate' },
    }),
    entry('github.changed', 'api_key', {
      ...{ agent: 'codex', agentBefore: expect.any(String), changed: 'testCommand' },
    }),
    entry('github.unlinked', 'api_key', { count: 1 }),
  ])
  expect(await auditTells(server.database.db, canary)).toBe(false)
})

it('tells another organization that it lost the link of a transferred repository', async () => {
  const { db } = server.database
  const repository = github.world.addRepository('acme/transferred', { ada: 'admin' })
  github.world.install(repository)
  const made = await server.call('POST', '/v1/organizations', { name: 'Former', seats: 5 })
  const former = (made.body.data as { id: string }).id
  const { rows } = await sql<{
    id: string
  }>`select id from workspaces where organization_id = ${former}`.execute(db)
  const [workspaceId, installation] = [rows[0]!.id, newUuid()]
  await sql`insert into github_installations (id, provider_installation_id, organization_id, workspace_id, created_by,
      agent, created_at, updated_at)
    values (${installation}, 987654, ${former}, ${workspaceId}, ${by}, 'codex', now(), now())`.execute(db)
  await sql`insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
    values (${repository.id}, ${installation}, 'former/transferred', 'main', now())`.execute(db)
  await linkAtGithub(server, github, 'ada', repository)
  const told = (await auditEntries(db, former)).filter(({ action }) => action.startsWith('github.'))
  expect(told).toEqual([
    {
      ...{ action: 'github.unlinked', outcome: 'succeeded', through: 'platform', by: null },
      ...{
        target: ['workspace', workspaceId, null],
        details: { repositories: 'former/transferred', count: 1 },
      },
    },
  ])
})

it('tells who started, stopped and promoted a Run, once for each key', async () => {
  const { workspaceId } = server.admin
  const installation = await link('acme/runs')
  await sql`update github_installation_settings set execution_target = 'fast' where installation_id = ${installation}`.execute(
    server.database.db,
  )
  await sql`delete from audit_entries`.execute(server.database.db)
  const start = async (key: string, issueNumber = 1) => {
    const response = await server.fetch('/v1/github/runs', {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${server.admin.apiKey}`, 'content-type': 'application/json' },
        'idempotency-key': key,
      },
      body: JSON.stringify({ workspaceId, repo: 'acme/runs', issueNumber, instruction: canary }),
    })
    return (await response.json()) as { code?: string; data: { id: string } }
  }
  const { id } = (await start('one')).data
  await start('one')
  expect((await start('two')).code).toBe('conflict')
  expect((await start('three', 99)).code).toBe('not_found')
  expect((await call('POST', `/v1/github/runs/${id}/promote`)).outcome).toBe('succeeded')
  expect((await call('POST', `/v1/github/runs/${id}/promote`)).outcome).toBe('run_not_promotable')
  await call('POST', `/v1/github/runs/${id}/stop`)
  await call('POST', `/v1/github/runs/${id}/stop`)
  const entry = (action: string, details = {}) => ({
    ...{ action, outcome: 'succeeded', through: 'api_key', by, target: ['run', id, 'acme/runs#1'], details },
  })
  expect(await told()).toEqual([
    entry('run.started', { agent: expect.any(String), executionTarget: 'fast' }),
    entry('run.promoted', { dock: null }),
    entry('run.stopped'),
  ])
  expect(await auditTells(server.database.db, canary)).toBe(false)
})
