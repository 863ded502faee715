import { gunzipSync } from 'node:zlib'
import { errorCodes, type Route, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'

/** Routes of the contract without a handler. Never increase this number. */

let server: TestControlPlane
afterEach(() => void vi.restoreAllMocks())
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

const allRoutes = Object.entries<Route>(routes)
const examplePath = (route: Route, id = newUuid()): string =>
  route.path.replace('/:port', '/8080').replace(/\/:[A-Za-z]+/g, `/${id}`)
const isBuilt = (name: string): boolean => name in server.controlPlane.handlers

describe('every route', () => {
  it('has a handler', () => {
    expect(allRoutes.filter(([name]) => !isBuilt(name))).toEqual([])
  })

  it('responds with 401 without credentials, unless it is public', async () => {
    for (const [name, route] of allRoutes) {
      if (!isBuilt(name) || route.access.credentials === 'public') continue
      const answer = await server.call(route.method, examplePath(route), undefined, null)
      expect([name, answer.status, answer.body.code]).toEqual([name, 401, 'unauthorized'])
    }
  })

  it('responds to a malformed id exactly as to an id that does not exist', async () => {
    const { cookie } = await server.signIn()
    const askInSession = async (method: string, path: string) => {
      const answer = await server.fetch(path, { method, headers: { cookie, origin: server.config.apiUrl } })
      return { status: answer.status, body: await answer.json() }
    }
    for (const [name, route] of allRoutes) {
      if (!isBuilt(name) || !route.path.includes('/:') || !route.notFound) continue
      // Any text is a valid name.
      if (/\/:(name|ref)/.test(route.path)) continue
      if (route.access.credentials === 'instance-admin-session') continue
      const ask = route.access.credentials === 'session' ? askInSession : server.call
      const absent = await ask(route.method, examplePath(route))
      const malformed = await ask(route.method, examplePath(route, 'nonsense'))
      expect([name, malformed.status]).toEqual([name, 404])
      if (absent.status === 404) expect([name, malformed.body]).toEqual([name, absent.body])
    }
  })
})

describe('credentials', () => {
  let session: Awaited<ReturnType<typeof signIn>>
  beforeAll(async () => {
    session = await signIn()
  })

  it('of an API key identify its owner', async () => {
    const answer = await server.call('GET', '/v1/me')
    expect(answer.status).toBe(200)
    expect(routes.readMe.response.parse(answer.body.data)).toMatchObject({
      email: server.admin.email,
      emailVerified: true,
      providers: ['credential'],
      instanceAdmin: true,
    })
  })

  it('ignore the cookie if there is an Authorization header, and accept only the Bearer scheme', async () => {
    const { cookie } = session
    for (const authorization of ['Bearer dock_wrong', 'Basic eDp5', 'Bearer']) {
      const response = await server.fetch('/v1/me', { headers: { cookie, authorization } })
      expect([authorization, response.status]).toEqual([authorization, 401])
    }
  })

  it('let a session read from anywhere, but write only from the same site', async () => {
    const { cookie } = session
    expect((await server.fetch('/v1/me', { headers: { cookie } })).status).toBe(200)
    const write = (headers: Record<string, string>) =>
      server.fetch('/v1/organizations', {
        method: 'POST',
        headers: { cookie, ...headers },
        body: JSON.stringify({ name: 'Mine' }),
      })
    expect((await write({ origin: 'https://evil.test' })).status).toBe(403)
    expect((await write({ origin: 'null' })).status).toBe(403)
    expect((await write({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    // A request without both headers does not come from a browser.
    expect((await write({})).status).toBe(201)
    expect((await write({ 'sec-fetch-site': 'same-site', origin: server.config.apiUrl })).status).toBe(403)
    expect((await write({ origin: server.config.apiUrl })).status).toBe(201)
    expect((await write({ 'sec-fetch-site': 'same-origin' })).status).toBe(201)
  })

  it('are refused if the session is forged, expired or signed out', async () => {
    const forged = session.cookie.replace(/\.[^.]*$/, `.${Buffer.alloc(32).toString('base64url')}%3D`)
    const statusOf = async (cookie: string): Promise<number> =>
      (await server.fetch('/v1/me', { headers: { cookie } })).status
    expect(await statusOf(forged)).toBe(401)
    const { db } = server.database
    const expireAt = (at: Date) =>
      db.updateTable('sessions').set({ expires_at: at }).where('token', '=', session.token).execute()
    await expireAt(new Date(Date.now() - 1))
    expect(await statusOf(session.cookie)).toBe(401)
    await expireAt(new Date(Date.now() + 60_000))
    expect(await statusOf(session.cookie)).toBe(200)
    await server.fetch('/api/auth/sign-out', {
      method: 'POST',
      headers: { cookie: session.cookie, origin: server.config.apiUrl },
    })
    expect(await statusOf(session.cookie)).toBe(401)
  })

  it('must be a session or belong to an instance admin where the contract says so', async () => {
    const reset = `/v1/hosts/${newUuid()}/reset-credential`
    expect((await server.call('POST', reset)).body.code).toBe('session_required')
    await setAdmin({ instance_admin: false })
    expect((await server.call('GET', '/v1/hosts')).body.code).toBe('instance_admin_required')
    await setAdmin({ instance_admin: true, email_verified: false })
    expect((await server.call('GET', '/v1/hosts')).body.code).toBe('email_verification_required')
    await setAdmin({ instance_admin: true, email_verified: true })
    expect((await server.call('GET', '/v1/hosts')).status).toBe(200)
  })

  it('of a closed account get 403, of an erased account 410', async () => {
    await setAdmin({ closed_at: new Date() })
    const closed = await server.call('GET', '/v1/me')
    expect([closed.status, closed.body.code]).toEqual([403, 'account_closed'])
    await setAdmin({ erased_at: new Date() })
    expect((await server.call('GET', '/v1/me')).status).toBe(410)
    await setAdmin({ closed_at: null, erased_at: null })
    expect((await server.call('GET', '/v1/me')).status).toBe(200)
  })
})

describe('requests', () => {
  it.each([
    ['{"name":"x","nope":1}', 'nope: unknown field'],
    ['{}', 'name: required'],
    [`{"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'nested more than 32 levels'],
    ['{"name":', 'Body is not valid JSON.'],
    ['{"name":"a\\u0000b"}', 'Body contains the character NUL.'],
    [JSON.stringify({ name: 'x'.repeat(5 * 1024 * 1024) }), 'Body is larger than 4194304'],
  ])('with the body %.20s are refused', async (body, message) => {
    const response = await server.fetch('/v1/api-keys', {
      method: 'POST',
      headers: { authorization: `Bearer ${server.admin.apiKey}` },
      body,
    })
    const answer = (await response.json()) as { code: string; message: string }
    expect([response.status, answer.code]).toEqual([400, 'validation_error'])
    expect(answer.message).toContain(message)
  })

  it('get the same 404 for an unknown path and an unknown method', async () => {
    const path = await server.call('GET', '/v1/nothing-here', undefined, null)
    const method = await server.call('PUT', '/v1/me')
    expect(path.status).toBe(404)
    expect(method.status).toBe(404)
    expect(method.body).toEqual(path.body)
    expect(path.body).toEqual({ ok: false, code: 'not_found', message: errorCodes.not_found.message })
  })

  it('have a unique id, which only a header shows', async () => {
    const [one, two] = [await server.call('GET', '/v1/me'), await server.call('GET', '/v1/me')]
    const id = one.headers.get('x-request-id') ?? ''
    expect(z.uuid().safeParse(id).success).toBe(true)
    expect(two.headers.get('x-request-id')).not.toBe(id)
    expect(JSON.stringify(one.body)).not.toContain(id)
  })
})

describe('the instance', () => {
  it('serves an OpenAPI document with every route', async () => {
    const packed = await server.fetch('/openapi.json', { headers: { 'accept-encoding': 'gzip' } })
    expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual([
      'gzip',
      'accept-encoding',
    ])
    const plainAgain = await server.fetch('/openapi.json')
    expect(plainAgain.headers.get('content-encoding')).toBeNull()
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(await plainAgain.text())
    const document = (await (await server.fetch('/openapi.json')).json()) as {
      openapi: string
      paths: Record<string, Record<string, { operationId: string; responses: object }>>
    }
    expect(document.openapi).toBe('3.1.0')
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(routes).sort())
    expect(document.paths['/v1/environments/{ref}/secrets:reveal']).toHaveProperty('post')
    expect(JSON.stringify(document)).not.toContain('#/$defs/')
  })

  it('lists its features and images', async () => {
    const config = await server.call('GET', '/v1/config', undefined, null)
    expect(routes.readConfig.response.parse(config.body.data)).toMatchObject({
      mailDelivery: 'log',
      ssh: null,
    })
    expect((await server.call('GET', '/v1/images')).body.data).toEqual([
      { name: 'ubuntu-24.04', isDefault: false, available: false, version: null },
      { name: 'debian-13', isDefault: true, available: false, version: null },
      { name: 'ubuntu-24.04-dev', isDefault: false, available: false, version: null },
      { name: 'debian-13-dev', isDefault: false, available: false, version: null },
      { name: 'debian-13-agents', isDefault: false, available: false, version: null },
    ])
  })

  it('serves /health, finishes running requests on shutdown, and measures requests by route', async () => {
    const listening = await server.listen()
    const base = `http://127.0.0.1:${listening.port}`
    const health = await fetch(`${base}/health`)
    expect([health.status, await health.json()]).toEqual([
      200,
      { ok: true, data: { status: 'ready', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) } },
    ])
    const headers = { authorization: `Bearer ${server.admin.apiKey}`, 'x-large': 'x'.repeat(50_000) }
    expect((await fetch(`${base}/v1/me`, { headers })).status).toBe(431)
    const holder = await server.database.connections.connect()
    try {
      // The request waits for this lock, so it is still running while the server drains.
      await holder.query('begin; lock table api_keys in access exclusive mode')
      const underWay = fetch(`${base}/v1/me`, { headers: { authorization: headers.authorization } })
      const waiters = `select 1 from pg_locks where relation = 'api_keys'::regclass and not granted`
      await vi.waitFor(async () => expect((await holder.query(waiters)).rowCount).toBeGreaterThan(0), 20_000)
      const drained = listening.drain(10_000)
      await holder.query('rollback')
      expect((await underWay).status).toBe(200)
      await drained
    } finally {
      await holder.query('rollback')
      holder.release()
    }
    await expect(fetch(`${base}/health`)).rejects.toThrow()
    const text = await server.controlPlane.metrics.registry.metrics()
    expect(text).toContain(
      'dock_http_request_duration_seconds_count{method="GET",route="/health",status="200"} 1',
    )
  })

  it('responds with 503 while its database is unavailable, and recovers', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const connect = vi
      .spyOn(server.database.connections, 'connect')
      .mockImplementation(() => Promise.reject(refused))
    try {
      for (const path of ['/health', '/v1/me']) {
        const answer = await server.call('GET', path)
        expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'service_unavailable'])
        expect(answer.body.message).not.toContain('ECONNREFUSED')
      }
    } finally {
      connect.mockRestore()
    }
    expect((await server.call('GET', '/health')).status).toBe(200)
  })
})

const setAdmin = (values: {
  instance_admin?: boolean
  email_verified?: boolean
  closed_at?: Date | null
  erased_at?: Date | null
}) => server.database.db.updateTable('users').set(values).where('email', '=', server.admin.email).execute()

/** Returns the session alone: signing in also marks the device. */
const signIn = async (): Promise<{ cookie: string; token: string }> => {
  const response = await server.fetch('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.config.apiUrl },
    body: JSON.stringify({ email: server.admin.email, password: server.admin.password }),
  })
  expect(response.status).toBe(200)
  const { token } = (await response.json()) as { token: string }
  const cookie = response.headers.getSetCookie().find((each) => each.startsWith('dock.session_token='))
  return { cookie: cookie?.split(';')[0] ?? '', token }
}
