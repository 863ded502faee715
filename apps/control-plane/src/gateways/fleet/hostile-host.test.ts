/** A host with a valid credential attacks the control plane over real links. Checks the cost and the effect. */
import { Readable } from 'node:stream'
import { newUuid, systemClock } from '@dock/foundation'
import {
  type HostileHost,
  joinHostileHost,
  startTestControlPlane,
  type TestControlPlane,
} from '@dock/testkit'
import { hostFacts } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { listTimeoutMs } from '../../modules/hosts/index.ts'

const gib = 2 ** 30
const pressure = { memAvailableBytes: 8 * gib, diskFreeBytes: 50 * gib }
const name = '0'.repeat(64)
let controlPlane: TestControlPlane
let host: HostileHost
let answer: (path: string, request: Request) => Response | Promise<Response> | null
/** How long the control plane waits for a list of captures. */
let listMs: number

const inventory = (over: object = {}): string =>
  `${JSON.stringify({ type: 'inventory', facts: hostFacts(), pressure, runtimes: [], pool: [], captures: [], ...over })}\n`
const warmSandbox = (dockId: string, hostname: string) => ({
  dockId,
  image: 'debian-13',
  cpus: 2,
  memoryMiB: 4096,
  diskGiB: 20,
  hostname,
  ip: '10.0.0.2',
})
const state = async (): Promise<string | undefined> =>
  (
    await sql<{ state: string }>`select state from hosts where id = ${host.hostId}`.execute(
      controlPlane.database.db,
    )
  ).rows[0]?.state
const untilOnline = () => vi.waitFor(async () => expect(await state()).toBe('online'), 60_000)

/** Writes until the control plane closes the session. Returns the number of bytes that it accepted. */
const writeEndlessly = async (piece: Uint8Array, bytesMax: number): Promise<number> => {
  const sessions = host.sessions()
  let sent = 0
  while (sent < bytesMax && host.sessions() === sessions) {
    const written = host.send(piece).then(
      () => true,
      () => false,
    )
    const again = vi.waitUntil(() => host.sessions() > sessions, { timeout: 30_000 }).then(() => false)
    if (!(await Promise.race([written, again]))) break
    sent += piece.length
  }
  return sent
}

beforeEach(async () => {
  listMs = listTimeoutMs
  controlPlane = await startTestControlPlane({
    clock: {
      ...systemClock,
      after: (ms, callback) => systemClock.after(ms === listTimeoutMs ? listMs : ms, callback),
    },
  })
  const { port } = await controlPlane.listen()
  answer = () => null
  host = await joinHostileHost({
    url: `http://127.0.0.1:${port}`,
    joinToken: await controlPlane.controlPlane.docks.enrolment.issueJoinToken(),
    facts: hostFacts(),
    answer: (path, request) => answer(path, request),
  })
  await host.waitUntilLinked()
  const { gateway } = controlPlane.controlPlane.docks.context
  await vi.waitFor(() => expect(gateway.hostsWithBulkLink()).toEqual([host.hostId]), 60_000)
})
afterEach(async () => {
  await host.close()
  await controlPlane.stop()
})

it('is disconnected for a line of a gigabyte, and the control plane buffers little of it', async () => {
  await host.send(inventory())
  await untilOnline()
  const before = process.memoryUsage().rss
  const sent = await writeEndlessly(Buffer.alloc(2 ** 18, 'x'), 2 ** 30)
  expect(sent).toBeLessThan(64 * 2 ** 20)
  expect(process.memoryUsage().rss - before).toBeLessThan(256 * 2 ** 20)
}, 60_000)

it('cannot report a warm pool of 100,000, nor one larger than allowed', async () => {
  const warmPool = (count: number) =>
    Array.from({ length: count }, (_, at) => warmSandbox(newUuid(), `dock-${at}`))
  await host.send(inventory({ pool: warmPool(1000) }))
  await host.send(inventory({ pool: warmPool(16_000) }))
  // The heartbeat of an offline host ends its session, so the valid inventory is sent in the next session.
  const sessions = host.sessions()
  await host.send(`${JSON.stringify({ type: 'heartbeat', pressure, running: 0 })}\n`)
  await vi.waitUntil(() => host.sessions() > sessions, { timeout: 60_000 })
  expect(await state()).toBe('offline')
  // Positive control: a warm pool of the allowed size is accepted.
  await host.sendInEachSession(inventory({ pool: warmPool(200) }))
  await untilOnline()
  const kind = { image: 'debian-13', cpus: 2, memoryMiB: 4096, diskGiB: 20 }
  const { warmPools } = controlPlane.controlPlane.docks.context
  // The warm pool is updated a moment after the host's state.
  let taken = 0
  const takeAll = () => {
    while (warmPools.take(kind, [host.hostId], null)) taken += 1
    expect(taken).toBe(200)
  }
  await vi.waitFor(takeAll, 60_000)
})

it('stays online if it sends events that this version does not know', async () => {
  const sessions = host.sessions()
  for (let each = 0; each < 100; each++) await host.send(`{"type":"newer.${each}","more":[${each}]}\n`)
  await host.send(inventory({ newer: 1 }))
  await untilOnline()
  expect(host.sessions()).toBe(sessions)
})

it('is disconnected when it sends only invalid events', async () => {
  const sent = await writeEndlessly(Buffer.from('{"type":"nothing"}\n[]\nnull\n{\n'.repeat(5)), 2 ** 20)
  expect(sent).toBeLessThan(2 ** 20)
})

it('cannot send an endless list of chunks', async () => {
  let sent = 0
  const list = (line: (at: number) => object) =>
    new Response(
      new ReadableStream({
        start: (controller) =>
          controller.enqueue(Buffer.from(`${JSON.stringify({ diskBytes: 20 * gib })}\n`)),
        pull: (controller) => {
          for (let each = 0; each < 100; each++)
            controller.enqueue(Buffer.from(`${JSON.stringify(line(sent++))}\n`))
        },
      }),
    )
  const { gateway } = controlPlane.controlPlane.docks.context
  for (const line of [
    (at: number) => ({ index: at, name }),
    () => ({ index: 0, name }),
    () => ({ diskBytes: 20 * gib }),
  ]) {
    sent = 0
    answer = (path) => (path.endsWith('/chunk-names') ? list(line) : null)
    await expect(
      gateway.nameChunks({ hostId: host.hostId, captureId: newUuid() }, { keys: 'keys' }),
    ).rejects.toThrow(/not in the protocol/)
    // A disk of 20 GiB has 5,120 chunks. The links buffer some more.
    expect(sent).toBeLessThan(5_120 + 200_000)
  }
})

it.each([
  ['refusal', 500],
  ['answer', 200],
])(
  'has an endless %s cut off',
  async (_, status) => {
    const bytesMax = 64 * 2 ** 20
    let sent = 0
    let cancelled = 0
    answer = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += 2 ** 16
            controller.enqueue(Buffer.alloc(2 ** 16, 'x'))
            if (sent > bytesMax) controller.close()
          },
          cancel: () => {
            cancelled += 1
          },
        }),
        { status },
      )
    const { gateway } = controlPlane.controlPlane.docks.context
    const frames = Readable.from([])
    const restored = gateway.restoreCapture(
      { hostId: host.hostId, captureId: newUuid() },
      { keys: 'keys', diskBytes: gib },
      frames,
    )
    await expect(restored).rejects.toMatchObject({ name: 'HostRefused', code: 'failed' })
    await vi.waitFor(() => expect(cancelled).toBe(1), 60_000)
    // The links buffer some more.
    expect(sent).toBeLessThan(bytesMax / 2)
  },
  60_000,
)

it('that sends an endless list of captures stays online, and is soon read no further', async () => {
  let sent = 0
  let cancelled = 0
  answer = (path) =>
    path === '/captures'
      ? new Response(
          new ReadableStream({
            pull: (controller) => {
              const captures = Array.from({ length: 1_000 }, newUuid)
              sent += captures.length
              controller.enqueue(Buffer.from(`${JSON.stringify({ captures })}\n`))
            },
            cancel: () => {
              cancelled += 1
            },
          }),
        )
      : null
  await host.send(inventory({ captures: null }))
  await untilOnline()
  await vi.waitFor(() => expect(cancelled).toBe(1), 60_000)
  // The links buffer some more.
  expect(sent).toBeLessThan(1_000_000)
}, 60_000)

it.each([
  ['never answers', () => new Promise<Response>(() => undefined)],
  [
    'sends a byte now and then',
    () => {
      let timer: NodeJS.Timeout
      return new Response(
        new ReadableStream({
          start: (controller) => {
            timer = setInterval(() => controller.enqueue(Buffer.from(' ')), 50)
          },
          cancel: () => clearInterval(timer),
        }),
      )
    },
  ],
])('that %s when asked for its captures is online, and asked no further', async (_, list) => {
  listMs = 500
  let cancelled = 0
  answer = (path, request) => {
    if (path !== '/captures') return null
    request.signal.addEventListener('abort', () => {
      cancelled += 1
    })
    return list()
  }
  await host.send(inventory({ captures: null }))
  await untilOnline()
  await vi.waitFor(() => expect(cancelled).toBe(1), 60_000)
  expect(host.sessions()).toBe(1)
})
