import { routes, type SshKey } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { generateKeyPair } from '@dock/ssh-server'
import {
  addPerson,
  startTestControlPlane,
  type TestControlPlane,
  type TestPerson,
  whileLocked,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: TestControlPlane
let person: TestPerson
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())
beforeEach(async () => {
  person = await addPerson(server)
})

const newKey = (): string => generateKeyPair('ssh-ed25519').public.trim()
const add = (publicKey = newKey(), key = person.apiKey) =>
  server.call('POST', '/v1/ssh-keys', { name: 'laptop', publicKey }, key)
const list = async (key = person.apiKey): Promise<SshKey[]> =>
  routes.listSshKeys.response.parse((await server.call('GET', '/v1/ssh-keys', undefined, key)).body.data)
/** Inserts keys directly, so that they do not count towards the rate limit. */
const seed = (count: number) =>
  sql`insert into ssh_keys (id, user_id, name, public_key, fingerprint, created_at)
    select gen_random_uuid(), ${person.userId}, 'k' || n, 'ssh-ed25519 x', 'SHA256:' || n || ${person.userId}::text, now()
    from generate_series(1, ${count}) n`.execute(server.database.db)

it('are added, listed newest first, and deleted', async () => {
  const first = await add()
  expect(first.status).toBe(201)
  const made = routes.addSshKey.response.parse(first.body.data)
  expect(made).toMatchObject({ name: 'laptop', lastUsedAt: null })
  await add()
  const listed = await list()
  expect(listed).toHaveLength(2)
  expect(listed[1]).toEqual(made)
  expect(
    (await server.call('DELETE', `/v1/ssh-keys/${made.id}`, undefined, person.apiKey)).body.data,
  ).toEqual({ deleted: true })
  expect(await list()).toHaveLength(1)
  for (const id of [made.id, newUuid(), 'nonsense'])
    expect((await server.call('DELETE', `/v1/ssh-keys/${id}`, undefined, person.apiKey)).body.code).toBe(
      'ssh_key_not_found',
    )
})

it('are added once even with another comment, and by each person for themselves', async () => {
  const key = newKey()
  expect((await add(key)).status).toBe(201)
  const again = await add(`${key.split(' ').slice(0, 2).join(' ')} elsewhere`)
  expect([again.status, again.body.code]).toEqual([409, 'ssh_key_exists'])
  const other = await addPerson(server)
  // A public key is public: who adds it first must not keep its owner from adding it, nor learn that it is known.
  expect((await add(key, other.apiKey)).status).toBe(201)
  const [theirs] = await list(other.apiKey)
  expect(
    (await server.call('DELETE', `/v1/ssh-keys/${theirs!.id}`, undefined, person.apiKey)).body.code,
  ).toBe('ssh_key_not_found')
  const [ours] = await list()
  await server.call('DELETE', `/v1/ssh-keys/${ours!.id}`, undefined, person.apiKey)
  expect(await list(other.apiKey)).toEqual([theirs])
})

it('are added by both of two people who add the same key concurrently', async () => {
  const [key, other] = [newKey(), await addPerson(server)]
  const answers = await whileLocked(
    server.database,
    { lock: 'select 1 from users for update', waiting: 2 },
    () => Promise.all([add(key), add(key, other.apiKey)]),
  )
  expect(answers.map(({ status, body }) => body.code ?? status)).toEqual([201, 201])
})

it('are added once when the same key is added concurrently', async () => {
  const key = newKey()
  const answers = await whileLocked(
    server.database,
    { lock: 'select 1 from users for update', waiting: 2 },
    () => Promise.all([add(key), add(key)]),
  )
  expect(answers.map(({ status, body }) => body.code ?? status).sort()).toEqual([201, 'ssh_key_exists'])
})

it('are limited to twenty, even when two are added concurrently', async () => {
  await seed(19)
  const answers = await whileLocked(
    server.database,
    { lock: 'select 1 from users for update', waiting: 2 },
    () => Promise.all([add(), add()]),
  )
  expect(answers.map(({ status, body }) => body.code ?? status).sort()).toEqual([
    201,
    'ssh_key_limit_reached',
  ])
})

it('are added at most ten times an hour, not counting invalid keys', async () => {
  for (let n = 0; n < 3; n += 1) expect((await add('nonsense')).body.code).toBe('validation_error')
  const statuses: number[] = []
  for (let n = 0; n < 11; n += 1) statuses.push((await add()).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 429])
})
