import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { routes } from '@dock/contract'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

type Reply = { status: number; body: unknown }

/** A fake authorization server. It returns `device` and `token`, and records its requests in `asked`. */
let provider: Server
let base: string
let device: Reply
let token: Reply
let asked: { path: string; form: Record<string, string> }[]
beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()))
    const path = request.url ?? ''
    asked.push({ path, form })
    const { status, body } = path === '/device' ? device : token
    response.writeHead(status, { 'content-type': 'application/json', location: `${base}/elsewhere` })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => provider.close(resolve)))

let server: TestControlPlane
let clock: VirtualClock
let person: TestPerson
beforeAll(async () => {
  clock = createVirtualClock()
  server = await startTestControlPlane({
    clock,
    environment: {
      CHATGPT_CLIENT_ID: 'client-1',
      CHATGPT_DEVICE_URL: `${base}/device`,
      CHATGPT_TOKEN_URL: `${base}/token`,
    },
  })
})
afterAll(() => server.stop())
beforeEach(async () => {
  asked = []
  device = {
    status: 200,
    body: {
      device_code: 'the-device-code',
      user_code: 'ABCD-EFGH',
      verification_uri: `${base}/activate`,
      expires_in: 600,
      interval: 5,
    },
  }
  token = refusal('authorization_pending')
  person = await addPerson(server)
})

const refusal = (error: string): Reply => ({ status: 400, body: { error } })
const idToken = (claims: object): string =>
  ['{}', JSON.stringify(claims), 'signature'].map((part) => Buffer.from(part).toString('base64url')).join('.')
const approval = (over: object = {}): Reply => ({
  status: 200,
  body: {
    access_token: 'secret-access-token',
    refresh_token: 'secret-refresh-token',
    id_token: idToken({
      email: 'person@example.test',
      'https://api.openai.com/auth': { chatgpt_plan_type: 'plus' },
    }),
    expires_in: 3600,
    ...over,
  },
})
const path = '/v1/chatgpt/connection'
const start = (key = person.apiKey) => server.call('POST', `${path}/device`, undefined, key)
const poll = (key = person.apiKey) => server.call('POST', `${path}/device/poll`, undefined, key)
const read = async (key = person.apiKey) =>
  routes.readAssistantConnection.response.parse((await server.call('GET', path, undefined, key)).body.data)
const pollsAsked = () => asked.filter((each) => each.path === '/token').length
const nothing = { connected: false, status: null, email: null, planType: null, updatedAt: null }
/** Returns all rows of the two tables as text. */
const stored = async (): Promise<string> => {
  const rows = await sql<{ row: string }>`select a::text as row from assistant_connections a
    union all select d::text from device_sign_ins d`.execute(server.database.db)
  return JSON.stringify(rows.rows)
}

describe('the device sign-in', () => {
  it('stores the tokens of an approved sign-in, sealed to their user', async () => {
    const begun = await start()
    expect(begun.headers.get('cache-control')).toBe('no-store')
    expect(routes.startDeviceSignIn.response.parse(begun.body.data)).toEqual({
      userCode: 'ABCD-EFGH',
      verificationUrl: `${base}/activate`,
      intervalSeconds: 5,
      expiresAt: new Date(clock.now().getTime() + 600_000).toISOString(),
    })
    expect(asked[0]).toEqual({
      path: '/device',
      form: { client_id: 'client-1', scope: 'openid profile email offline_access' },
    })
    expect(await stored()).not.toContain('the-device-code')
    expect((await poll()).body.data).toEqual({ state: 'pending' })
    expect(await read()).toEqual(nothing)
    clock.advance(5_000)
    token = approval()
    const approved = await poll()
    expect(asked.at(-1)?.form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'client-1',
      device_code: 'the-device-code',
    })
    const connection = {
      connected: true,
      status: 'active',
      email: 'person@example.test',
      planType: 'plus',
      updatedAt: clock.now().toISOString(),
    }
    expect(routes.pollDeviceSignIn.response.parse(approved.body.data)).toEqual({
      state: 'connected',
      ...connection,
    })
    expect(await read()).toEqual(connection)
    expect(await stored()).not.toMatch(/secret-|the-device-code/)
    const other = await addPerson(server)
    expect(await read(other.apiKey)).toEqual(nothing)
    expect((await poll()).body.code).toBe('device_code_expired')
  })

  it('polls the provider once per interval, even when the caller polls more often or concurrently', async () => {
    await start()
    const answers = await Promise.all(Array.from({ length: 10 }, () => poll()))
    expect(answers.map(({ body }) => body.data)).toEqual(
      Array.from({ length: 10 }, () => ({ state: 'pending' })),
    )
    expect(pollsAsked()).toBe(1)
    clock.advance(4_999)
    await poll()
    expect(pollsAsked()).toBe(1)
    clock.advance(1)
    await poll()
    expect(pollsAsked()).toBe(2)
  })

  it('polls the provider less often after slow_down', async () => {
    await start()
    token = refusal('slow_down')
    expect((await poll()).body.data).toEqual({ state: 'pending' })
    token = refusal('authorization_pending')
    clock.advance(9_999)
    await poll()
    expect(pollsAsked()).toBe(1)
    clock.advance(1)
    await poll()
    expect(pollsAsked()).toBe(2)
  })

  it.each(['expired_token', 'access_denied', 'invalid_grant'])(
    'ends when the provider says %s',
    async (error) => {
      await start()
      token = refusal(error)
      const answer = await poll()
      expect([answer.status, answer.body.code]).toEqual([400, 'device_code_expired'])
      token = approval()
      expect((await poll()).body.code).toBe('device_code_expired')
      expect(pollsAsked()).toBe(1)
    },
  )

  it('ends when the code expires, without polling the provider', async () => {
    await start()
    clock.advance(600_000)
    expect((await poll()).body.code).toBe('device_code_expired')
    expect(pollsAsked()).toBe(0)
    expect((await poll()).body.code).toBe('device_code_expired')
  })

  it.each<[string, Reply]>([
    ['fails', { status: 500, body: { error: 'server_error' } }],
    ['does not return JSON', { status: 200, body: '<html>' }],
    ['returns invalid tokens', { status: 200, body: { access_token: 7 } }],
    ['returns an error outside the RFC', refusal('invalid_client')],
    ['redirects', { status: 302, body: {} }],
    [
      'returns a response that is too large',
      { status: 200, body: JSON.stringify({ access_token: 'x'.repeat(100_000) }) },
    ],
  ])('reports that the provider %s, and continues once the provider works again', async (_, broken) => {
    await start()
    token = broken
    const answer = await poll()
    expect([answer.status, answer.body.code]).toEqual([502, 'chatgpt_unavailable'])
    clock.advance(5_000)
    token = approval()
    expect((await poll()).body.data).toMatchObject({ state: 'connected' })
  })

  it.each<[string, object]>([
    ['no code', { device_code: undefined }],
    ['a javascript: link', { verification_uri: 'javascript:alert(1)' }],
    ['no expiry', { expires_in: undefined }],
  ])('refuses a grant with %s', async (_, over) => {
    device = { status: 200, body: { ...(device.body as object), ...over } }
    const answer = await start()
    expect([answer.status, answer.body.code]).toEqual([502, 'chatgpt_unavailable'])
  })

  it('is replaced by a second start, after which an approval of the first code is ignored', async () => {
    await start()
    device = { status: 200, body: { ...(device.body as object), device_code: 'the-second-code' } }
    await start()
    token = approval()
    expect((await poll()).body.data).toMatchObject({ state: 'connected' })
    expect(asked.at(-1)?.form['device_code']).toBe('the-second-code')
  })

  it('is started at most ten times an hour', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 11; n += 1) statuses.push((await start()).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  })

  it('must be started before it is polled', async () => {
    expect((await poll()).body.code).toBe('device_code_expired')
  })
})

describe('a connection', () => {
  const connect = async (over: object = {}): Promise<void> => {
    await start()
    token = approval(over)
    await poll()
  }

  it('is expired once its tokens expire, unless it has a refresh token', async () => {
    await connect({ refresh_token: undefined })
    expect(await read()).toMatchObject({ connected: true, status: 'active' })
    clock.advance(3_600_000)
    expect(await read()).toMatchObject({ connected: true, status: 'expired' })
    await connect()
    clock.advance(3_600_000)
    expect(await read()).toMatchObject({ status: 'active' })
  })

  it('has no address if the ID token is missing or invalid', async () => {
    for (const id_token of [undefined, 'nonsense', idToken({ email: 7 }), 'a.!!!.c']) {
      await connect({ id_token })
      expect(await read()).toMatchObject({ connected: true, email: null, planType: null })
    }
  })

  it('can be deleted once', async () => {
    await connect()
    expect((await server.call('DELETE', path, undefined, person.apiKey)).body.data).toEqual(nothing)
    expect(await read()).toEqual(nothing)
    const again = await server.call('DELETE', path, undefined, person.apiKey)
    expect([again.status, again.body.code]).toEqual([404, 'chatgpt_not_connected'])
  })
})

it('is disabled without a provider, and the instance config says so', async () => {
  const config = await server.call('GET', '/v1/config', undefined, null)
  expect(config.body.data).toMatchObject({ chatgptSignIn: true })
  const without = await startTestControlPlane()
  try {
    for (const at of ['device', 'device/poll']) {
      const answer = await without.call('POST', `${path}/${at}`)
      expect([answer.status, answer.body.code]).toEqual([403, 'chatgpt_signin_disabled'])
    }
    const told = await without.call('GET', '/v1/config', undefined, null)
    expect(told.body.data).toMatchObject({ chatgptSignIn: false })
  } finally {
    await without.stop()
  }
})
