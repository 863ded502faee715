import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const lines: string[] = []
let server: TestControlPlane
let port: number
let shortTimeoutPort: number
beforeAll(async () => {
  server = await startTestControlPlane({ logTo: (line) => lines.push(line) })
  port = (await server.listen()).port
  const timeouts = { headersMs: 300, requestMs: 600, silenceMs: 60_000, refusedMs: 100, lostMs: 60_000 }
  shortTimeoutPort = (await server.listen(timeouts)).port
})
afterAll(() => server.stop())

/** Sends bytes over a new connection. Returns everything received until the server closes it. */
const exchange = (...pieces: string[]): Promise<string> => exchangeWith(port, pieces)
const exchangeSlowly = (...pieces: string[]): Promise<string> => exchangeWith(shortTimeoutPort, pieces)
const exchangeWith = async (target: number, pieces: string[]): Promise<string> => {
  const socket = connect(target, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  for (const piece of pieces) socket.write(piece)
  await once(socket, 'close')
  return received
}
const statusOf = (answer: string): string => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none'

describe('every response', () => {
  it.each(['/v1/config', '/v1/me', '/nothing', '/health', '/openapi.json', '/api/auth/get-session'])(
    '%s has the security headers',
    async (path) => {
      const { headers } = await server.fetch(path)
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-request-id': expect.any(String),
      })
      expect(headers.has('strict-transport-security')).toBe(false)
      expect(headers.has('access-control-allow-origin')).toBe(false)
      expect(headers.has('x-powered-by')).toBe(false)
    },
  )

  it('has HSTS if the public URL is https', async () => {
    const secure = await startTestControlPlane({
      environment: { DOCK_PUBLIC_URL: 'https://dock.example.test' },
    })
    const { headers } = await secure.fetch('/v1/config')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    await secure.stop()
  })
})

describe('a request', () => {
  const create = (body: string) =>
    server.fetch('/v1/docks', {
      method: 'POST',
      headers: { authorization: `Bearer ${server.admin.apiKey}`, 'content-type': 'application/json' },
      body,
    })
  const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message

  it('is refused with a field named __proto__', async () => {
    const { workspaceId, organizationId } = server.admin
    const refused = await create(`{"workspaceId":"${workspaceId}","env":{"__proto__":"x"}}`)
    expect([refused.status, await messageOf(refused)]).toEqual([
      400,
      'Body contains a field named __proto__. Remove it.',
    ])
    const made = await server.call('POST', '/v1/environments', { organizationId, name: 'proto' })
    const path = `/v1/environments/${(made.body.data as { id: string }).id}`
    for (const [method, rest, body] of [
      ['PUT', '/secrets', { envContents: '__proto__=x' }],
      ['POST', '/vars', { key: '__proto__', value: 'x' }],
      ['POST', '/files', { path: '__proto__', contents: 'x' }],
    ] as const) {
      const answer = await server.call(method, path + rest, body)
      expect([rest, answer.status, answer.body.code]).toEqual([rest, 400, 'validation_error'])
    }
  })

  it('is refused with more values than anybody needs, before they are parsed', async () => {
    // Valid JSON has no comma at its end, so this would be refused for another reason if it were parsed.
    const many = await create(`{"env":[${'[],'.repeat(60_000)}`)
    expect([many.status, await messageOf(many)]).toEqual([
      400,
      'Body has more than 100000 values. Split it into several requests.',
    ])
    const { organizationId } = server.admin
    const made = await server.call('POST', '/v1/environments', { organizationId, name: 'rows' })
    const path = `/v1/environments/${(made.body.data as { id: string }).id}/files`
    const contents = '[,{"'.repeat(50_000)
    expect((await server.call('POST', path, { path: 'rows.csv', contents })).body.message).toBe(undefined)
  })

  it('must give numbers as decimal digits', async () => {
    const dock = `/v1/docks/${newUuid()}`
    for (const limit of ['0x10', '1e1', ' 10', '10.0', '+10', ''])
      expect([
        limit,
        (await server.call('GET', `/v1/notifications?limit=${encodeURIComponent(limit)}`)).status,
      ]).toEqual([limit, 400])
    for (const limit of ['0', '101', '-1'])
      expect((await server.call('GET', `/v1/notifications?limit=${limit}`)).status).toBe(400)
    expect((await server.call('GET', '/v1/notifications?limit=10')).status).toBe(200)
    const codeOf = async (port: string) => (await server.call('DELETE', `${dock}/ports/${port}`)).body.code
    expect([await codeOf('0x50'), await codeOf('80')]).toEqual(['port_not_found', 'dock_not_found'])
  })

  it('must name a Dock with one line of visible text without control characters', async () => {
    const { workspaceId } = server.admin
    for (const name of ['', ' ', 'a\nb', 'a\u0085b', 'a\u2028b', 'a\u202eb', '\u200f', '\u0007', '\ud800']) {
      const answer = await server.call('POST', '/v1/docks', { workspaceId, name })
      expect([name, answer.body.code]).toEqual([name, 'validation_error'])
    }
    for (const name of ['build 7', 'Größe', '開発', 'דוק', '👩‍👩‍👧'])
      expect((await server.call('POST', '/v1/docks', { workspaceId, name })).body.code).not.toBe(
        'validation_error',
      )
  })

  it('that takes long to process does not count as an idle connection', async () => {
    const timeouts = { headersMs: 300, requestMs: 600, silenceMs: 300, refusedMs: 100, lostMs: 60_000 }
    const { port: shortIdlePort } = await server.listen(timeouts)
    const holder = new pg.Client({ connectionString: server.database.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query('lock table notifications in access exclusive mode')
    const answer = fetch(`http://127.0.0.1:${shortIdlePort}/v1/notifications`, {
      headers: { authorization: `Bearer ${server.admin.apiKey}` },
    })
    answer.catch(() => undefined)
    await delay(1500)
    await holder.query('commit')
    await holder.end()
    expect((await answer).status).toBe(200)
  })

  it('over a rate limit gets Retry-After', async () => {
    const body = { name: 'A', email: 'a@example.test', topic: 'business', message: 'Hello' }
    const answers = []
    for (let n = 0; n < 4; n += 1) answers.push(await server.call('POST', '/v1/contact', body, null))
    const waits = answers.map(({ headers }) => headers.get('retry-after'))
    expect([answers.at(-1)?.status, waits.slice(0, 3)]).toEqual([429, [null, null, null]])
    expect(Number(waits[3])).toBeGreaterThan(3500)
    expect(Number(waits[3])).toBeLessThanOrEqual(3600)
  })
})

describe('a body', () => {
  it('of an anonymous caller is limited to 64 KiB, with a Content-Length or chunked', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(70_000) })
    const announced = await server.fetch('/v1/contact', { method: 'POST', body })
    expect([announced.status, await announced.json()]).toMatchObject([
      400,
      { message: 'Body is larger than 65536 bytes.' },
    ])
    const pieces = Array.from({ length: 20 }, () => `1000\r\n${'x'.repeat(4096)}\r\n`)
    const head =
      'POST /v1/contact HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n'
    expect(await exchange(head, ...pieces, '0\r\n\r\n')).toContain('Body is larger than 65536 bytes.')
  })

  it('with two conflicting lengths is refused before it is read', async () => {
    const head =
      'POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(statusOf(await exchange(head, '0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n'))).toBe('400')
    const twice = 'POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'
    expect(statusOf(await exchange(twice))).toBe('400')
  })
})

it('accepts an address or headers of 32 KiB, and no more than 40', async () => {
  const ask = async (path: string, header: string): Promise<string> =>
    statusOf(
      await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-large: ${header}\r\n\r\n`),
    )
  expect(await ask('/v1/config', 'x'.repeat(32_768))).toBe('200')
  expect(await ask(`/v1/config?${'x'.repeat(32_768)}`, 'x')).toBe('200')
  expect(await ask('/v1/config', 'x'.repeat(41_000))).toBe('431')
  expect(await ask(`/v1/config?${'x'.repeat(41_000)}`, 'x')).toBe('431')
})

it('refuses too large headers with 431, even if the client keeps sending', async () => {
  const head = 'GET /v1/config HTTP/1.1\r\nHost: x\r\n'
  const large = Array.from({ length: 64 }, () => `x-large: ${'x'.repeat(16_000)}\r\n`)
  for (let i = 0; i < 20; i++) expect(statusOf(await exchange(head, ...large))).toBe('431')
})

it('knows no method TRACE, not even at /mcp', async () => {
  for (const path of ['/mcp', '/v1/me', '/nothing'])
    expect(statusOf(await exchange(`TRACE ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))).toBe(
      '404',
    )
})

describe('a slow client', () => {
  it('that does not end its headers is cut off', async () => {
    expect(statusOf(await exchangeSlowly('GET /v1/config HTTP/1.1\r\nHost: x\r\nX-Slow: '))).toBe('408')
  })

  it('that does not end its body is cut off', async () => {
    const head = 'POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n'
    expect(['408', 'none']).toContain(statusOf(await exchangeSlowly(head, '{"name":')))
  })

  it('that sends a request in pieces is served', async () => {
    const pieces = ['GET /v1/con', 'fig HTTP/1.1\r\nHo', 'st: x\r\nConnection: close\r\n\r\n']
    expect(statusOf(await exchange(...pieces))).toBe('200')
  })

  it('that keeps its connection after a refused upgrade is cut off', async () => {
    const socket = connect({ port: shortTimeoutPort, host: '127.0.0.1', allowHalfOpen: true })
    let received = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
    })
    socket.on('error', () => undefined)
    socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    await once(socket, 'end')
    expect(statusOf(received)).toBe('404')
    // The kernel resets a connection that the server has closed when more data arrives.
    await expect.poll(() => (socket.destroyed ? 'cut' : socket.write('x'))).toBe('cut')
  })
})

it('logs each request with its route pattern and id, and without any credential', async () => {
  const person = await addPerson(server)
  lines.length = 0
  const canary = 'canary4711'
  const asked = await server.fetch(`/v1/docks/5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11?ticket=${canary}`, {
    headers: { authorization: `Bearer ${person.apiKey}`, 'x-confirm-delete': canary },
  })
  await server.fetch('/v1/me', { headers: { cookie: `${person.cookie}; other=${canary}` } })
  await server.fetch('/v1/me', { headers: { authorization: `Bearer ${canary}` } })
  await server.fetch(`/v1/invitations/${canary}`, { headers: { authorization: `Bearer ${person.apiKey}` } })
  await server.fetch('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.config.apiUrl },
    body: JSON.stringify({ email: `${canary}@example.test`, password: canary }),
  })
  const text = lines.join('')
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(logged.find(({ route }) => route === '/v1/docks/:id')).toMatchObject({
    requestId: asked.headers.get('x-request-id'),
    method: 'GET',
    status: 404,
    callerId: person.userId,
  })
  expect(lines.length).toBeGreaterThanOrEqual(5)
  for (const secret of [canary, person.apiKey, person.cookie.split('=')[1]!, server.admin.password])
    expect(text).not.toContain(secret)
})
