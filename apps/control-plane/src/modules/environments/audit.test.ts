/** What the audit log tells of Environments: who changed what, and never a value. */
import type { Environment } from '@dock/contract'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { auditEntries, auditTells } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

const canary = 'canary-9c41'

let server: ControlPlaneWithHost
let organizationId: string
let by: string
let environment: Environment
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  organizationId = server.admin.organizationId
  by = (await server.database.db.selectFrom('users').select('id').executeTakeFirstOrThrow()).id
})
afterAll(() => server.stop())

const path = (rest = '') => `/v1/environments/${environment.id}${rest}`
const call = async (method: string, rest: string, body?: object, key?: string) => {
  const { code, data } = (await server.call(method, path(rest), body, key)).body
  return code ?? data
}
/** Returns the entries since the Environment was created, without what all of them share. */
const told = async () => {
  const shared = { outcome: 'succeeded', through: 'api_key', by }
  return (await auditEntries(server.database.db, organizationId)).map(
    ({ action, target, details, ...rest }) => {
      expect(rest).toEqual(shared)
      expect(target).toEqual(['environment', environment.id, environment.name])
      return [action, details]
    },
  )
}
const clear = () => sql`delete from audit_entries`.execute(server.database.db)

let number = 0
beforeEach(async () => {
  await clear()
  const body = { organizationId, name: `audited-${number++}` }
  environment = (await server.call('POST', '/v1/environments', body)).body.data as Environment
})

it('tells who created, changed, upgraded and deleted an Environment', async () => {
  await call('PATCH', '', { passGithub: false, secretsAccess: 'members' })
  await call('PATCH', '', { name: environment.name, passGithub: false })
  await call('POST', '/upgrade', {})
  expect(await call('DELETE', '')).toEqual({ deleted: true })
  expect(await told()).toEqual([
    ['environment.created', {}],
    [
      'environment.updated',
      {
        ...{ passGithub: false, passGithubBefore: true },
        ...{ secretsAccess: 'members', secretsAccessBefore: 'admins' },
      },
    ],
    ['environment.upgraded', { version: 2 }],
    ['environment.deleted', {}],
  ])
})

it('tells the names of changed contents, and who revealed them', async () => {
  await call('POST', '/vars', { key: 'TOKEN', value: canary })
  await call('POST', '/vars', { key: 'TOKEN', value: canary })
  await call('POST', '/files', { path: '.config/key', contents: canary })
  await call('PUT', '/secrets', { envContents: `A=${canary}\nB=2\n`, secretFiles: [] })
  const repository = { provider: 'github', repositoryId: '7', fullName: 'acme/app', setupScript: canary }
  const { repos } = (await call('POST', '/repos', repository)) as Environment
  await call('DELETE', `/repos/${repos[0]!.id}`)
  await call('DELETE', '/vars/B')
  await call('POST', '/secrets:reveal')
  const changed = 'environment.contents_changed'
  expect(await told()).toEqual([
    ['environment.created', {}],
    [changed, { kind: 'variable', change: 'set', key: 'TOKEN' }],
    [changed, { kind: 'file', change: 'set', key: '.config/key' }],
    [changed, { kind: 'secrets', change: 'replaced', variables: 2, files: 0 }],
    [changed, { kind: 'repository', change: 'added', key: 'acme/app' }],
    [changed, { kind: 'repository', change: 'removed', key: 'acme/app' }],
    [changed, { kind: 'variable', change: 'removed', key: 'B' }],
    ['environment.secrets_revealed', { version: 7 }],
  ])
  expect(await auditTells(server.database.db, canary)).toBe(false)
  expect(await auditTells(server.database.db, 'acme/app')).toBe(true)
})

it('tells nothing of what is refused', async () => {
  const member = await addPerson(server, { role: 'member' })
  expect(await call('POST', '/secrets:reveal', undefined, member.apiKey)).toBe('forbidden')
  expect(await call('DELETE', '/vars/NONE')).toBe('not_found')
  expect(await call('PATCH', '', { name: 'default' })).toBe('environment_name_taken')
  expect(await call('POST', '/files', { path: '/absolute', contents: 'x' })).toBe('validation_error')
  expect(await told()).toEqual([['environment.created', {}]])
})
