import { Readable } from 'node:stream'
import { newUuid } from '@dock/foundation'
import { expect, test } from 'vitest'
import type { AgentLink } from './accept-link.ts'
import { createDialBackListener } from './dial-back.ts'
import { createHostCalls } from './host-calls.ts'
import { HostRefused } from './link-errors.ts'

const [dockId, captureId, processId] = [newUuid(), newUuid(), newUuid()]
const dock = { hostId: 'host', dockId }
const kept = { ...dock, processId }
const order = { operationId: 'op_1', generation: 1 }
const note = { sizeBytes: 1, diskBytes: 2, dock: null }

/** Returns the calls over a link on which every call gets this answer, and what was sent. */
const answering = (answer: unknown, status = 200, headers: Record<string, string> = {}) => {
  const sent: { channel: string; method: string; path: string; body?: unknown; timeoutMs?: number }[] = []
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
  const linkOf = (channel: string) =>
    ({
      request: async (method: string, path: string, options: object) => {
        sent.push({ channel, method, path, ...options })
        return { status, headers, body: Buffer.from(text), json: () => JSON.parse(text) }
      },
      stream: async (method: string, path: string, options: object) => {
        sent.push({ channel, method, path, ...options })
        return { status, headers, stream: Readable.from(Buffer.from(text)) }
      },
    }) as unknown as AgentLink
  const parts = { epoch: () => 3, untilOrdersMayGo: () => undefined, dialBacks: createDialBackListener() }
  return { sent, calls: createHostCalls({ ...parts, link: (_host, channel) => linkOf(channel) }) }
}

test('a call sends its path, query and body over its channel, and waits as long as the table says', async () => {
  const { calls, sent } = answering(note)
  expect(await calls.readCaptureNote({ hostId: 'host', captureId })).toEqual(note)
  await calls.waitForKept(kept, { ms: 500 }).catch(() => undefined)
  await calls
    .listCaptureFolder({ hostId: 'host', captureId }, { path: '/a b', limit: 2 })
    .catch(() => undefined)
  await calls.resizeProcess(kept, { cols: 80, rows: 24 })
  expect(sent).toMatchObject([
    { channel: 'control', method: 'GET', path: `/captures/${captureId}/note`, timeoutMs: 60_000 },
    { method: 'GET', path: `/docks/${dockId}/kept/${processId}/wait?ms=500`, timeoutMs: 60_500 },
    { channel: 'bulk', path: `/captures/${captureId}/folder?path=%2Fa+b&limit=2`, timeoutMs: undefined },
    { channel: 'bulk', method: 'POST', body: { cols: 80, rows: 24 }, timeoutMs: 10_000 },
  ])
})

test('an order that destroys carries the epoch, and nothing is sent that the protocol does not name', async () => {
  const { calls, sent } = answering({})
  const more = { ...order, unknown: true }
  expect(await calls.destroy(dock, more)).toBeUndefined()
  expect(sent[0]?.body).toEqual({ ...order, epoch: 3 })
  await expect(calls.destroy(dock, { ...order, generation: 0 })).rejects.toThrow()
  expect(sent).toHaveLength(1)
})

test('a parameter cannot change the path', async () => {
  const { calls, sent } = answering({})
  await calls.destroy({ ...dock, dockId: '../x?y' }, order)
  expect(sent[0]?.path).toBe('/docks/..%2Fx%3Fy/destroy')
})

test('fields that a newer agent adds are ignored', async () => {
  const { calls } = answering({ ...note, newer: 1 })
  expect(await calls.readCaptureNote({ hostId: 'host', captureId })).toEqual(note)
})

test.each([
  ['a refusal', { code: 'busy', message: 'wait' }, 409, 'busy'],
  ['a refusal that cannot be read', '<html>', 502, 'failed'],
  ['an answer that is no JSON', '{', 200, 'failed'],
  ['an answer that is not in the protocol', { ip: 1 }, 200, 'failed'],
])('%s rejects the call', async (_, answer, status, code) => {
  const { calls } = answering(answer, status)
  const spec = { hostname: 'h', cpus: 1, memoryMiB: 1, diskGiB: 1, source: { kind: 'own' as const } }
  const refused = await calls.start(dock, { ...order, ...spec, newIdentity: true }).catch((error) => error)
  expect(refused).toBeInstanceOf(HostRefused)
  expect(refused.code).toBe(code)
})

test('a stream of bytes is described by its headers', async () => {
  const place = { ...kept, stream: 'stdout' as const }
  const from = { offset: 2, follow: false }
  const { calls, sent } = answering('text', 200, { 'x-first-offset': '1', 'x-start-offset': '2' })
  const { first, start, body } = await calls.openKeptOutput(place, from)
  expect([first, start, String(await body.toArray())]).toEqual([1, 2, 'text'])
  expect(sent[0]?.path).toBe(`/docks/${dockId}/kept/${processId}/output/stdout?offset=2&follow=false`)
  const wrong = answering('text', 200, { 'x-first-offset': '-1', 'x-start-offset': '2' })
  await expect(wrong.calls.openKeptOutput(place, from)).rejects.toMatchObject({ code: 'failed' })
  const missing = answering('text', 200, { 'x-first-offset': '1' })
  await expect(missing.calls.openKeptOutput(place, from)).rejects.toMatchObject({ code: 'failed' })
})
