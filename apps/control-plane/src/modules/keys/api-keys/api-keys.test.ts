import { type CreatedApiKey, routes } from '@dock/contract'
import { newUuid, systemClock } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, whileLocked } from '@dock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRateLimits } from '../../../rate-limits/rate-limits.ts'
import type { Caller } from '../../accounts/index.ts'
import { addSshKey } from '../ssh-keys/add-ssh-key.ts'
import { createApiKey } from './create-api-key.ts'

let server: TestControlPlane
beforeEach(async () => {
  server = await startTestControlPlane()
})
afterEach(() => server.stop())

const create = (name = 'ci', extra: object = {}) => server.call('POST', '/v1/api-keys', { name, ...extra })
const made = async (extra: object = {}): Promise<CreatedApiKey> =>
  routes.createApiKey.response.parse((await create('ci', extra)).body.data)
const statusWith = async (key: string): Promise<number> =>
  (await server.call('GET', '/v1/me', undefined, key)).status

it('shows the raw key once and stores only its hash', async () => {
  const answer = await create()
  expect(answer.status).toBe(201)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const key = routes.createApiKey.response.parse(answer.body.data)
  expect(await statusWith(key.apiKey)).toBe(200)
  const listed = routes.listApiKeys.response.parse((await server.call('GET', '/v1/api-keys')).body.data)
  expect(listed.map(({ name }) => name)).toEqual(['ci', 'first start'])
  expect(listed[0]).not.toHaveProperty('apiKey')
  const rows = await sql`select api_keys::text as row from api_keys`.execute(server.database.db)
  expect(JSON.stringify(rows.rows)).not.toContain(key.apiKey)
})

it('works until it is revoked or expires', async () => {
  const key = await made({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
  expect(await statusWith(key.apiKey)).toBe(200)
  await sql`update api_keys set expires_at = now() where id = ${key.id}`.execute(server.database.db)
  expect(await statusWith(key.apiKey)).toBe(401)
  const other = await made()
  const revoked = await server.call('DELETE', `/v1/api-keys/${other.id}`)
  expect(revoked.body).toEqual({ ok: true, data: { revoked: true } })
  expect(await statusWith(other.apiKey)).toBe(401)
})

it('ends no later than the key that made it', async () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const maker = await made({ expiresAt: soon })
  const endOf = async (extra: object): Promise<string | null> => {
    const answer = await server.call('POST', '/v1/api-keys', { name: 'made', ...extra }, maker.apiKey)
    return routes.createApiKey.response.parse(answer.body.data).expiresAt
  }
  expect(await endOf({})).toBe(soon)
  expect(await endOf({ expiresAt: new Date(Date.now() + 7_200_000).toISOString() })).toBe(soon)
  const sooner = new Date(Date.now() + 1_800_000).toISOString()
  expect(await endOf({ expiresAt: sooner })).toBe(sooner)
  // A key without an end, and a person in a browser, may make one without an end.
  expect((await made()).expiresAt).toBeNull()
})

it('is not made with a key that is revoked in the meantime', async () => {
  const maker = await made()
  const lock = `select 1 from users for update; update api_keys set revoked_at = now() where id = '${maker.id}'`
  const answer = await whileLocked(server.database, { lock, waiting: 1 }, () =>
    server.call('POST', '/v1/api-keys', { name: 'late' }, maker.apiKey),
  )
  expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized'])
})

it('accepts a date as expiry, and means its first moment', async () => {
  expect((await made({ expiresAt: '2099-01-01' })).expiresAt).toBe('2099-01-01T00:00:00.000Z')
  expect((await create('ci', { expiresAt: '2099-02-30' })).body.code).toBe('validation_error')
})

it('refuses an expiry that an offset moves beyond the year 9999, which is no timestamp of the contract', async () => {
  expect((await made({ expiresAt: '9999-12-31T23:59:59Z' })).expiresAt).toBe('9999-12-31T23:59:59.000Z')
  expect((await create('ci', { expiresAt: '9999-12-31T23:59:59-01:00' })).body.code).toBe('validation_error')
})

it('refuses an expiry in the past, and to revoke a key of another user', async () => {
  const past = await create('ci', { expiresAt: '2020-01-01T00:00:00Z' })
  expect([past.body.code, past.body.message]).toEqual([
    'validation_error',
    'expiresAt: must be in the future',
  ])
  const db = server.database.db
  const userId = newUuid()
  await db.insertInto('users').values({ id: userId, name: 'Other', email: 'other@example.test' }).execute()
  const foreign = await db
    .insertInto('api_keys')
    .values({ user_id: userId, name: 'theirs', key_prefix: 'dock_x', key_hash: Buffer.from('x') })
    .returning('id')
    .executeTakeFirstOrThrow()
  const answer = await server.call('DELETE', `/v1/api-keys/${foreign.id}`)
  expect([answer.status, answer.body.code]).toEqual([404, 'api_key_not_found'])
})

it('allows ten creations an hour', async () => {
  const statuses: number[] = []
  for (let n = 0; n < 11; n += 1) statuses.push((await create(`key ${n}`)).status)
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 429])
})

it('allows twenty active keys, even when two are created concurrently', async () => {
  await sql`insert into api_keys (user_id, name, key_prefix, key_hash)
    select id, 'k' || n, 'dock_' || n, ('h' || n)::bytea from users, generate_series(1, 18) n`.execute(
    server.database.db,
  )
  const answers = await whileLocked(
    server.database,
    { lock: 'select 1 from users for update', waiting: 2 },
    () => Promise.all([create(), create()]),
  )
  const codes = answers.map(({ status, body }) => body.code ?? status)
  expect(codes.sort()).toEqual([201, 'api_key_limit_reached'])
})

it('records the use of a key at most once a minute', async () => {
  const lastUsed = async (): Promise<Date | null> => {
    const row = await server.database.db
      .selectFrom('api_keys')
      .select('last_used_at')
      .executeTakeFirstOrThrow()
    return row.last_used_at
  }
  await server.call('GET', '/v1/me')
  const first = await vi.waitFor(
    async () => {
      const at = await lastUsed()
      expect(at).not.toBeNull()
      return at
    },
    { timeout: 60_000 },
  )
  await server.call('GET', '/v1/me')
  await server.call('GET', '/v1/api-keys')
  expect(await lastUsed()).toEqual(first)
})

it('refuses to create keys for a closed or erased account, even if authentication preceded the closing', async () => {
  const { db } = server.database
  const { userId } = await addPerson(server)
  const caller: Caller = {
    kind: 'session',
    userId,
    email: 'a@example.test',
    emailVerified: true,
    credentialId: newUuid(),
    instanceAdmin: false,
  }
  const rateLimits = createRateLimits()
  const context = {
    db,
    clock: systemClock,
    rateLimits,
    sealer: server.controlPlane.sealer,
    deviceFlow: null,
    apiUrl: '',
  }
  const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b'
  const codes = async () => {
    const made = [
      createApiKey(context, caller, { name: 'k' }),
      addSshKey(context, caller, { name: 'k', publicKey }),
    ]
    const settled = await Promise.allSettled(made)
    return settled.map((each) => (each.status === 'rejected' ? each.reason.code : each.status))
  }
  await db.updateTable('users').set({ closed_at: new Date() }).where('id', '=', userId).execute()
  expect(await codes()).toEqual(['account_closed', 'account_closed'])
  await db
    .updateTable('users')
    .set({ closed_at: null, erased_at: new Date() })
    .where('id', '=', userId)
    .execute()
  expect(await codes()).toEqual(['account_closed', 'account_closed'])
  await db.updateTable('users').set({ erased_at: null }).where('id', '=', userId).execute()
  expect(await codes()).toEqual(['fulfilled', 'fulfilled'])
})
