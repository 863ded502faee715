import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Admin, askHostOnline } from './readiness.ts'

const admin: Admin = {
  baseUrl: '',
  email: 'admin@dock.localhost',
  password: 'p',
  apiKey: 'dock_key',
  organizationId: 'o',
  workspaceId: 'w',
  image: 'debian-13',
}
let server: Server
let url: string
let answer: { status: number; body: object }
beforeEach(async () => {
  server = createServer((_, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

it('waits for a host that is online and has sent a heartbeat since the start', async () => {
  const since = Date.parse('2026-01-01T12:00:00Z')
  const before = { state: 'online', lastHeartbeatAt: '2026-01-01T11:59:59.999Z' }
  const after = { state: 'online', lastHeartbeatAt: '2026-01-01T12:00:00.000Z' }
  const silent = { state: 'offline', lastHeartbeatAt: null }
  answer = { status: 200, body: { ok: true, data: [silent, before, { ...after, state: 'offline' }] } }
  expect(await askHostOnline(url, admin, since)).toBeUndefined()
  answer = { status: 200, body: { ok: true, data: [silent, after] } }
  expect(await askHostOnline(url, admin, since)).toBe(true)
  answer = { status: 503, body: { ok: false, code: 'service_unavailable', message: 'Retry.' } }
  await expect(askHostOnline(url, admin, since)).rejects.toThrow('service_unavailable: Retry.')
})

it('does not wait without an admin who could ask', async () => {
  expect(await askHostOnline(url, undefined, 0)).toBe(true)
  for (const status of [401, 403, 410]) {
    answer = { status, body: { ok: false, code: 'unauthorized' } }
    expect(await askHostOnline(url, admin, 0)).toBe(true)
  }
})
