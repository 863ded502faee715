import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConnectionError, createClient, Dock, NotFoundError, RateLimitError } from './index.ts'

type Answer = 'break' | 'hang' | { status: number; code?: string; retryAfter?: string }
let server: Server
let answers: Answer[]
let seen: { method: string; url: string; headers: IncomingMessage['headers'] }[]
let baseUrl: string

beforeEach(async () => {
  seen = []
  server = createServer((request, response) => {
    request.resume()
    seen.push({ method: request.method!, url: request.url!, headers: request.headers })
    const answer = answers.shift() ?? { status: 200 }
    if (answer === 'hang') return
    if (answer === 'break') return void request.socket.destroy()
    const { status, code, retryAfter } = answer
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
    const body = code === undefined ? { ok: true, data: {} } : { ok: false, code, message: 'No.' }
    response.writeHead(status).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const id = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
const client = (retries?: number) =>
  createClient({ baseUrl, apiKey: 'k', ...(retries === undefined ? {} : { retries }) })
const create = (headers: Record<string, string> = {}) =>
  client().call('createDock', { body: { workspaceId: id }, headers })
const keys = () => seen.map(({ headers }) => headers['idempotency-key'])

it('repeats a create with the same key of its own making, whatever broke', async () => {
  answers = [
    'break',
    { status: 503, code: 'service_unavailable' },
    { status: 409, code: 'idempotency_in_progress' },
  ]
  await create()
  expect(seen).toHaveLength(4)
  expect(new Set(keys()).size).toBe(1)
  expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/)
})

it('makes a new key for each call', async () => {
  answers = []
  await create()
  await create()
  expect(new Set(keys()).size).toBe(2)
})

it.each(['Idempotency-Key', 'IDEMPOTENCY-KEY', 'idempotency-key'])(
  'keeps the caller’s key in %s',
  async (name) => {
    answers = ['break']
    await create({ [name]: 'mine' })
    expect(keys()).toEqual(['mine', 'mine'])
  },
)

it('reports that a request with the caller’s key is still running', async () => {
  answers = [{ status: 409, code: 'idempotency_in_progress' }]
  await expect(create({ 'Idempotency-Key': 'mine' })).rejects.toMatchObject({
    code: 'idempotency_in_progress',
  })
  expect(seen).toHaveLength(1)
})

it('waits for its own request with the caller’s key after a broken attempt', async () => {
  answers = ['break', { status: 409, code: 'idempotency_in_progress' }]
  await create({ 'Idempotency-Key': 'mine' })
  expect(keys()).toEqual(['mine', 'mine', 'mine'])
})

it('repeats nothing for a key that the route does not take', async () => {
  answers = ['break']
  const headers: Record<string, string> = { 'idempotency-key': 'ignored' }
  await expect(client().call('stopDock', { params: { id }, headers })).rejects.toBeInstanceOf(ConnectionError)
  expect(seen).toHaveLength(1)
})

it('waits as long as Retry-After says', async () => {
  answers = [{ status: 429, code: 'rate_limited', retryAfter: '1' }]
  const before = Date.now()
  await client().call('stopDock', { params: { id } })
  expect(Date.now() - before).toBeGreaterThanOrEqual(1000)
  expect(seen).toHaveLength(2)
})

it('does not wait longer than it may', async () => {
  answers = [{ status: 429, code: 'rate_limited', retryAfter: '3600' }]
  const failure = await create().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(RateLimitError)
  expect(failure).toMatchObject({ retryAfterSeconds: 3600 })
})

it('does not repeat what might be done twice', async () => {
  answers = ['break']
  await expect(client().call('stopDock', { params: { id } })).rejects.toBeInstanceOf(ConnectionError)
  answers = ['break']
  const body = new Blob(['x']).stream()
  const written = client().call('writeDockFile', { params: { id }, query: { path: '/a' }, body })
  await expect(written).rejects.toBeInstanceOf(ConnectionError)
  answers = ['break']
  const headers = { 'x-dock-cancel-on-disconnect': 'true' }
  const executed = client().call('execInDock', { params: { id }, body: { command: 'x' }, headers })
  await expect(executed).rejects.toBeInstanceOf(ConnectionError)
  expect(seen).toHaveLength(3)
})

it('does not repeat a refusal, nor anything if told so', async () => {
  // A new connection: Deno and Bun repeat by themselves what breaks on one that was kept.
  answers = ['break']
  const body = { workspaceId: id }
  await expect(client(0).call('createDock', { body })).rejects.toMatchObject({ code: 'connection_failed' })
  answers = [{ status: 404, code: 'dock_not_found' }]
  await expect(client().call('readDock', { params: { id } })).rejects.toBeInstanceOf(NotFoundError)
  expect(seen).toHaveLength(2)
})

it('gives up after its attempts', async () => {
  answers = Array.from({ length: 10 }, () => ({ status: 503, code: 'service_unavailable' }))
  await expect(client(2).call('readMe')).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(seen).toHaveLength(3)
})

it('ends at once when the caller aborts, in a request and between two', async () => {
  const reason = new Error('enough')
  for (const answer of ['hang', { status: 429, code: 'rate_limited', retryAfter: '20' }] as const) {
    answers = [answer]
    seen = []
    const controller = new AbortController()
    const called = client().call('readMe', { signal: controller.signal })
    await expect.poll(() => seen.length).toBe(1)
    controller.abort(reason)
    await expect(called).rejects.toBe(reason)
  }
})

it('lets no parameter lead to another route', async () => {
  for (const ref of ['.', '..', ''])
    await expect(client().call('readEnvironment', { params: { ref } })).rejects.toBeInstanceOf(TypeError)
  expect(seen).toEqual([])
})

it('a create and a branch ask for a runtime in a header, and only if they are given one', async () => {
  const made = await Dock.create({
    client: client(),
    workspaceId: id,
    runtime: 'microvm',
    idempotencyKey: 'k',
  })
  await made.branch({ runtime: 'gvisor' }).catch(() => undefined)
  await made.branch().catch(() => undefined)
  expect(seen.map(({ headers }) => headers['x-dock-runtime'])).toEqual(['microvm', 'gvisor', undefined])
  expect(keys()[0]).toBe('k')
})
