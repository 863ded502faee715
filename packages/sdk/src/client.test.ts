import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest'
import { createClient, Dock, DockApiError, type DockInfo, NotFoundError } from './index.ts'

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
let seen: Seen
let answer: { status: number; body: string; headers?: Record<string, string> }
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  seen = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
  response.writeHead(answer.status, answer.headers).end(answer.body)
})
let client: ReturnType<typeof createClient>

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  client = createClient({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: 'dock_example', retries: 0 })
})
afterAll(() => server.close())

const id = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
const success = (data: unknown) => ({ status: 200, body: JSON.stringify({ ok: true, data }) })

test('sends method, path, key, headers and body, and returns the data', async () => {
  answer = success({ exitCode: 0 })
  const result = await client.call('execInDock', {
    params: { id },
    body: { command: 'true' },
    headers: { 'idempotency-key': 'k' },
  })
  expect(result).toEqual({ exitCode: 0 })
  expect(seen).toMatchObject({ method: 'POST', url: `/v1/docks/${id}/exec`, body: '{"command":"true"}' })
  expect(seen.headers).toMatchObject({ authorization: 'Bearer dock_example', 'idempotency-key': 'k' })
})

test('makes no idempotency key if it never repeats a request', async () => {
  answer = success({ exitCode: 0 })
  await client.call('execInDock', { params: { id }, body: { command: 'true' } })
  expect(seen.headers).not.toHaveProperty('idempotency-key')
})

test('takes a folder below the work folder for commands and processes', async () => {
  answer = success({ id })
  const dock = new Dock(client, { id } as DockInfo)
  const cwds: unknown[] = []
  for (const cwd of ['project', './a', '/etc', undefined]) {
    await dock.exec('true', { cwd })
    cwds.push((JSON.parse(seen.body) as { cwd?: string }).cwd)
    await dock.spawn(['true'], { cwd })
    cwds.push((JSON.parse(seen.body) as { cwd?: string }).cwd)
  }
  const [project, a] = ['/home/user/work/project', '/home/user/work/a']
  expect(cwds).toEqual([project, project, a, a, '/etc', '/etc', undefined, undefined])
})

test('throws the same error for an unknown name as for an unknown id', async () => {
  answer = success([])
  const unknown = await Dock.get('none', { client }).catch((error: unknown) => error)
  expect(unknown).toBeInstanceOf(NotFoundError)
  expect(unknown).toMatchObject({ code: 'dock_not_found', status: 404 })
})

test('encodes queries and parameters, and keeps a literal colon', async () => {
  answer = success([])
  const docks = await client.call('listDocks', { query: { all: true } })
  expectTypeOf(docks).toEqualTypeOf<DockInfo[]>()
  expect(seen.url).toBe('/v1/docks?all=true')
  await client.call('revealEnvironmentSecrets', { params: { ref: 'a/b' } })
  expect(seen.url).toBe('/v1/environments/a%2Fb/secrets:reveal')
  await client.call('readMe')
  expect(seen).toMatchObject({ url: '/v1/me', body: '' })
})

test('returns the bytes of a raw route', async () => {
  answer = { status: 200, body: 'bytes' }
  const bytes = await client.call('readSnapshotFile', { params: { id }, query: { path: 'etc/x y' } })
  expect(Buffer.from(bytes).toString()).toBe('bytes')
  expect(seen.url).toBe(`/v1/snapshots/${id}/files?path=etc%2Fx%20y`)
})

test('sends the bytes of a raw route, also as a stream, and bytes of a path as they are', async () => {
  const query = { path: '/tmp/a\udcff b' }
  for (const body of [new Uint8Array([104, 105]), new Blob(['hi']).stream()]) {
    answer = success({ name: 'a' })
    await client.call('writeDockFile', { params: { id }, query, body })
    expect(seen).toMatchObject({
      method: 'PUT',
      url: `/v1/docks/${id}/files?path=%2Ftmp%2Fa%FF%20b`,
      body: 'hi',
    })
    expect(seen.headers['content-type']).toBe('application/octet-stream')
  }
})

test('throws the code, status and message of a failure', async () => {
  answer = { status: 409, body: JSON.stringify({ ok: false, code: 'dock_busy', message: 'Retry.' }) }
  const failure = await client.call('readMe').catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(DockApiError)
  expect(failure).toMatchObject({ code: 'dock_busy', status: 409, message: 'Retry.' })
})

test('throws bad_response when the response is not an envelope', async () => {
  for (const status of [200, 502]) {
    answer = { status, body: '<html>' }
    await expect(client.call('readMe')).rejects.toMatchObject({ code: 'bad_response', status })
  }
})

test('an error has the id of the request, for a report', async () => {
  answer = {
    status: 409,
    body: JSON.stringify({ ok: false, code: 'conflict', message: 'x' }),
    headers: { 'x-request-id': 'request-1' },
  }
  await expect(client.call('readMe')).rejects.toMatchObject({ code: 'conflict', requestId: 'request-1' })
})

test('returns the address of a route', () => {
  const address = client.urlOf('readDockFile', { params: { id }, query: { path: '/a b\udcff' } })
  expect(address).toBe(`${client.baseUrl}/v1/docks/${id}/files?path=%2Fa%20b%FF`)
})
