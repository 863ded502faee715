/** Who reads the audit log, how it is searched and exported, and when its entries end. */
import { type AuditEntry, auditKeptDays, auditPage, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AuditRecord, recordAudit } from './index.ts'
import { pruneAudit } from './prune-audit.ts'

const dayMs = 24 * 3_600_000

let server: TestControlPlane
let clock: VirtualClock
let owner: TestPerson
let organizationId: string
beforeAll(async () => {
  clock = createVirtualClock(new Date())
  server = await startTestControlPlane({ clock })
})
afterAll(() => server.stop())
beforeEach(async () => {
  owner = await addPerson(server)
  const made = await server.call('POST', '/v1/organizations', { name: 'Acme', seats: 10 }, owner.apiKey)
  organizationId = routes.createOrganization.response.parse(made.body.data).id
  clock.advance(1_000)
})

const join = (role: 'member' | 'admin' | 'owner') => addPerson(server, { role, organizationId })
const path = (query = '') => `/v1/organizations/${organizationId}/audit${query}`
const read = async (query = '', key = owner.apiKey) => {
  const { data } = (await server.call('GET', path(query), undefined, key)).body
  return auditPage.parse(data)
}
const write = async (n: number, entry: Partial<AuditRecord> = {}, person = owner): Promise<void> => {
  const { userId } = person
  const by = { kind: 'api_key', userId, credentialId: newUuid(), address: '192.0.2.1' } as const
  for (let index = 0; index < n; index++)
    await recordAudit(server.database.db, by, {
      ...{ action: 'workspace.created', now: clock.now(), organizationId, details: { index } },
      ...entry,
    })
}
const download = async (where: string, key: string): Promise<AuditEntry[]> => {
  const response = await server.fetch(where, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit.jsonl"')
  const lines = (await response.text()).split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line) as AuditEntry)
}

describe('the audit log of an organization', () => {
  it.each(['', '/export'])('is read by owners alone%s', async (rest) => {
    const codeOf = async (key: string, organization = organizationId) => {
      const where = `/v1/organizations/${organization}/audit${rest}`
      const response = await server.fetch(where, { headers: { authorization: `Bearer ${key}` } })
      const text = await response.text()
      return response.ok ? response.status : [response.status, (JSON.parse(text) as { code: string }).code]
    }
    const [second, admin, member] = [await join('owner'), await join('admin'), await join('member')]
    const outsider = await addPerson(server)
    expect(await codeOf(owner.apiKey)).toBe(200)
    expect(await codeOf(second.apiKey)).toBe(200)
    expect(await codeOf(admin.apiKey)).toEqual([403, 'forbidden'])
    expect(await codeOf(member.apiKey)).toEqual([403, 'forbidden'])
    expect(await codeOf(outsider.apiKey)).toEqual([404, 'organization_not_found'])
    // An instance admin reads the log of the instance, and no organization's own.
    expect(await codeOf(server.admin.apiKey)).toEqual([404, 'organization_not_found'])
    expect(await codeOf(outsider.apiKey, newUuid())).toEqual([404, 'organization_not_found'])
    expect(await codeOf('dock_none')).toEqual([401, 'unauthorized'])
  })

  it('has its own entries, and copies of what its members did with their accounts', async () => {
    const member = await join('member')
    const other = await addPerson(server)
    await server.call('POST', '/v1/organizations', { name: 'Other' }, other.apiKey)
    for (const { apiKey } of [member, other])
      await server.call('POST', '/v1/api-keys', { name: 'own' }, apiKey)
    const { entries } = await read()
    expect(entries.map(({ action, actor }) => [action, actor?.id])).toEqual([
      ['api_key.created', member.userId],
      ['organization.created', owner.userId],
    ])
    expect(entries[0]).toMatchObject({ organizationId, actor: { email: member.email, name: 'Somebody' } })
  })
})

describe('the audit log of the instance', () => {
  it.each(['', '/export'])('is read by instance admins alone%s', async (rest) => {
    for (const { apiKey } of [owner, await join('admin')]) {
      const answer = await server.call('GET', `/v1/audit${rest}`, undefined, apiKey)
      expect([answer.status, answer.body.code]).toEqual([403, 'instance_admin_required'])
    }
    const doubtful = await addPerson(server, { instanceAdmin: true, emailVerified: false })
    const answer = await server.call('GET', `/v1/audit${rest}`, undefined, doubtful.apiKey)
    expect([answer.status, answer.body.code]).toEqual([403, 'email_verification_required'])
  })

  it('has each entry once, of all organizations and of none', async () => {
    await server.call('POST', '/v1/api-keys', { name: 'own' }, owner.apiKey)
    const { data } = (await server.call('GET', `/v1/audit?actorId=${owner.userId}`)).body
    expect(auditPage.parse(data).entries.map((entry) => [entry.action, entry.organizationId])).toEqual([
      ['api_key.created', null],
      ['organization.created', organizationId],
    ])
    const exported = await download(`/v1/audit/export?actorId=${owner.userId}`, server.admin.apiKey)
    expect(exported).toEqual(auditPage.parse(data).entries)
  })
})

it('is read page by page, newest first, also where entries are of one moment', async () => {
  await write(5)
  clock.advance(1_000)
  await write(4)
  const pages: AuditEntry[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await read(`?limit=4${cursor && `&cursor=${cursor}`}`)
    pages.push(page.entries)
    cursor = page.nextCursor
  }
  expect(pages.map(({ length }) => length)).toEqual([4, 4, 2])
  const all = pages.flat()
  expect(new Set(all.map(({ id }) => id)).size).toBe(10)
  expect(all.map(({ at }) => at)).toEqual(
    all
      .map(({ at }) => at)
      .sort()
      .reverse(),
  )
  expect(all.at(-1)?.action).toBe('organization.created')
  const wrong = await server.call('GET', path('?cursor=none'), undefined, owner.apiKey)
  expect(wrong.body.code).toBe('validation_error')
})

it('is filtered by action, kind, person, target and time', async () => {
  const member = await join('member')
  await write(1, { action: 'api_key.created', target: { type: 'api_key', id: 'k1', name: 'ci' } })
  await write(1, { action: 'api_key.revoked', target: { type: 'api_key', id: 'k2' } })
  const from = clock.now().toISOString()
  clock.advance(60_000)
  await write(1, { action: 'ssh_key.added' }, member)
  const until = new Date(clock.now().getTime() + 1).toISOString()
  clock.advance(60_000)
  await write(1, { action: 'workspace.created' }, member)
  const actions = async (query: string) => (await read(query)).entries.map(({ action }) => action)
  expect(await actions('?action=api_key')).toEqual(
    expect.arrayContaining(['api_key.revoked', 'api_key.created']),
  )
  expect(await actions('?action=api_key')).toHaveLength(2)
  expect(await actions('?action=api_key.created')).toEqual(['api_key.created'])
  expect(await actions('?action=ssh')).toEqual([])
  expect(await actions(`?actorId=${member.userId}`)).toEqual(['workspace.created', 'ssh_key.added'])
  expect(await actions('?targetId=k2')).toEqual(['api_key.revoked'])
  expect(await actions(`?since=${from}&until=${until}&actorId=${member.userId}`)).toEqual(['ssh_key.added'])
  expect(await actions(`?since=${until}`)).toEqual(['workspace.created'])
  // Times that PostgreSQL does not read as text.
  expect(await actions('?since=0000-01-01T00:00:00Z')).toHaveLength(5)
  expect(await actions('?until=0000-01-01T00:00:00Z')).toEqual([])
  for (const query of ['?action=a.b.c', '?action=%25', '?actorId=me', '?since=yesterday'])
    expect([query, (await server.call('GET', path(query), undefined, owner.apiKey)).body.code]).toEqual([
      query,
      'validation_error',
    ])
})

it('is exported whole, beyond the size of a page, with the same filters', async () => {
  await sql`insert into audit_entries (at, organization_id, action, actor_id, through)
    select ${clock.now()}::timestamptz - n * interval '1 second', ${organizationId}, 'run.started', ${owner.userId}, 'session'
    from generate_series(1, 2500) n`.execute(server.database.db)
  const all = await download(path('/export'), owner.apiKey)
  expect(all).toHaveLength(2501)
  expect(new Set(all.map(({ id }) => id)).size).toBe(2501)
  expect(all.slice(0, 50)).toEqual((await read('?limit=50')).entries)
  expect(await download(path('/export?action=organization'), owner.apiKey)).toHaveLength(1)
  expect(await download(path('/export?action=webhook'), owner.apiKey)).toEqual([])
})

it('names whom it can find, and gives no name of an erased person', async () => {
  const gone = newUuid()
  await write(1, { action: 'member.removed', target: { type: 'person', id: gone } })
  await write(
    1,
    { action: 'member.removed', target: { type: 'person', id: owner.userId } },
    {
      ...owner,
      userId: gone,
    },
  )
  const { entries } = await read('?action=member')
  const target = (id: string) => entries.find((entry) => entry.target?.id === id)
  expect(target(gone)).toMatchObject({ target: { name: null }, actor: { name: 'Somebody' } })
  expect(target(owner.userId)).toMatchObject({
    target: { name: 'Somebody' },
    actor: { id: gone, name: null, email: null },
  })
})

it('loses an entry after 400 days, and not before', async () => {
  expect(auditKeptDays).toBe(400)
  await write(3, { action: 'webhook.created' })
  const written = async () => (await read('?action=webhook')).entries.length
  clock.advance(400 * dayMs - 1_000)
  await pruneAudit({ db: server.database.db, clock })
  expect(await written()).toBe(3)
  clock.advance(2_000)
  await pruneAudit({ db: server.database.db, clock })
  expect(await written()).toBe(0)
})
