import { once } from 'node:events'
import { connect } from 'node:net'
import { addPerson, type TestControlPlane, testControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const lines: string[] = []
let server: TestControlPlane
let port: number
let impatientPort: number
beforeAll(async () => {
  server = await testControlPlane({ logTo: (line) => lines.push(line) })
  port = (await server.listen()).port
  impatientPort = (await server.listen({ headersMs: 300, requestMs: 600, silenceMs: 60_000 })).port
})
afterAll(() => server.stop())

/** Sends bytes over a connection of its own and answers all that comes until the server ends it. */
const exchange = (...pieces: string[]): Promise<string> => exchangeWith(port, pieces)
const exchangeSlowly = (...pieces: string[]): Promise<string> => exchangeWith(impatientPort, pieces)
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

describe('every answer', () => {
  it.each(['/v1/config', '/v1/me', '/nothing', '/health', '/openapi.json', '/api/auth/get-session'])(
    '%s tells browsers what not to do with it',
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

  it('over https asks to come by https alone', async () => {
    const secure = await testControlPlane({ environment: { DOCK_PUBLIC_URL: 'https://dock.example.test' } })
    const { headers } = await secure.fetch('/v1/config')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
    await secure.stop()
  })
})

describe('a body', () => {
  it('of somebody unknown may be small only, announced or in pieces', async () => {
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

  it('with two lengths is refused before it is read', async () => {
    const head =
      'POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(statusOf(await exchange(head, '0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n'))).toBe('400')
    const twice = 'POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'
    expect(statusOf(await exchange(twice))).toBe('400')
  })
})

it('headers that are too large are refused with 431, also when the client sends on', async () => {
  const head = 'GET /v1/config HTTP/1.1\r\nHost: x\r\n'
  const large = Array.from({ length: 64 }, () => `x-large: ${'x'.repeat(16_000)}\r\n`)
  for (let i = 0; i < 20; i++) expect(statusOf(await exchange(head, ...large))).toBe('431')
})

describe('a slow client', () => {
  it('that does not end its headers is cut off', async () => {
    expect(statusOf(await exchangeSlowly('GET /v1/config HTTP/1.1\r\nHost: x\r\nX-Slow: '))).toBe('408')
  })

  it('that does not end its body is cut off', async () => {
    const head = 'POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n'
    expect(['408', 'none']).toContain(statusOf(await exchangeSlowly(head, '{"name":')))
  })

  it('is a client like others when it is done', async () => {
    const pieces = ['GET /v1/con', 'fig HTTP/1.1\r\nHo', 'st: x\r\nConnection: close\r\n\r\n']
    expect(statusOf(await exchange(...pieces))).toBe('200')
  })
})

it('logs each request by its pattern and id, and nothing that opens a door', async () => {
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
