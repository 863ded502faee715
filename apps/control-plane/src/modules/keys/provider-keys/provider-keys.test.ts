import { keyProviders, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: TestControlPlane
let member: TestPerson
let stranger: TestPerson
beforeAll(async () => {
  server = await startTestControlPlane()
  member = await addPerson(server, { role: 'member' })
  stranger = await addPerson(server)
})
afterAll(() => server.stop())
beforeEach(() => sql`delete from provider_keys`.execute(server.database.db).then(() => undefined))

const secret = 'sk-ant-very-secret-0123456789'
const query = () => `?organizationId=${server.admin.organizationId}`
const set = (provider = 'anthropic', key = secret, as?: string) =>
  server.call(
    'PUT',
    '/v1/agent-credentials',
    { organizationId: server.admin.organizationId, provider, key },
    as,
  )
const list = async (as?: string) => server.call('GET', `/v1/agent-credentials${query()}`, undefined, as)
const reveal = (provider = 'anthropic', as?: string) =>
  server.call('GET', `/v1/agent-credentials/${provider}/reveal${query()}`, undefined, as)
const remove = (provider = 'anthropic', as?: string) =>
  server.call('DELETE', `/v1/agent-credentials/${provider}${query()}`, undefined, as)

it('are listed for each provider without the key', async () => {
  const answer = await set()
  expect(routes.setProviderKey.response.parse(answer.body.data)).toMatchObject({
    provider: 'anthropic',
    configured: true,
  })
  const listed = await list(member.apiKey)
  const statuses = routes.listProviderKeys.response.parse(listed.body.data)
  expect(statuses.map(({ provider }) => provider)).toEqual(keyProviders)
  expect(statuses.filter(({ configured }) => configured)).toEqual([answer.body.data])
  expect(statuses.find(({ provider }) => provider === 'openai')).toMatchObject({ updatedAt: null })
  expect(JSON.stringify([answer.body, listed.body])).not.toContain(secret)
})

it('are revealed to admins, never cached, and sealed in the database', async () => {
  await set()
  const revealed = await reveal()
  expect(revealed.body.data).toEqual({ provider: 'anthropic', key: secret })
  expect(revealed.headers.get('cache-control')).toBe('no-store')
  const rows = await sql<{ row: string }>`select p::text as row from provider_keys p`.execute(
    server.database.db,
  )
  expect(rows.rows[0]!.row).toContain('v1.')
  expect(rows.rows[0]!.row).not.toContain(secret)
  await set('anthropic', 'another')
  expect((await reveal()).body.data).toEqual({ provider: 'anthropic', key: 'another' })
})

it('stay readable when several requests set a key concurrently', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => set('openai', `key-${n}`)))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
  expect((await reveal('openai')).body.data).toEqual({
    provider: 'openai',
    key: expect.stringMatching(/^key-\d$/),
  })
})

it('cannot be revealed or deleted again once deleted', async () => {
  await set()
  expect((await remove()).body.data).toEqual({
    provider: 'anthropic',
    configured: false,
    updatedAt: null,
  })
  for (const answer of [await reveal(), await remove()])
    expect([answer.status, answer.body.code]).toEqual([404, 'provider_keys_not_found'])
})

it('are set, revealed and deleted by admins only, and hidden from outsiders', async () => {
  await set()
  for (const answer of [
    await set('openai', 'x', member.apiKey),
    await reveal('anthropic', member.apiKey),
    await remove('anthropic', member.apiKey),
  ])
    expect(answer.body.code).toBe('forbidden')
  for (const answer of [
    await list(stranger.apiKey),
    await set('openai', 'x', stranger.apiKey),
    await reveal('anthropic', stranger.apiKey),
    await remove('anthropic', stranger.apiKey),
    await reveal('mistral'),
    await remove('mistral'),
    await server.call('GET', `/v1/agent-credentials?organizationId=${newUuid()}`),
  ])
    expect([answer.status, answer.body.code]).toEqual([404, 'provider_keys_not_found'])
  for (const answer of [
    await server.call('GET', '/v1/agent-credentials'),
    await set('mistral'),
    await set('openai', ''),
    await set('openai', 'x'.repeat(513)),
  ])
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error'])
})
