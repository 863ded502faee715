/** How many readings of Snapshots there are at once, and how each of them ends. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { limits } from '@dock/contract'
import { serve } from '@hono/node-server'
import { expect, it, vi } from 'vitest'
import { createOpenReadings, type OpenReadings, untilRead } from './open-readings.ts'

const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax } = limits.snapshotReadings
const text = new TextEncoder()
const byLength = { bytesOf: (piece: Uint8Array) => piece.length }
const refusal = expect.objectContaining({ code: 'rate_limited' })

/** A stream without end of which every piece is made when it is asked for. */
const endless = () => {
  const cancelled = vi.fn()
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(text.encode('x')), cancel: cancelled },
    { highWaterMark: 0 },
  )
  return { source, cancelled }
}

it.each([
  ['a person', openPerUserMax, ({ ofUser }, key) => ofUser(key)],
  ['an organization on a host', openPerHostAndOrganizationMax, ({ ofHost }, key) => ofHost('host', key)],
  ['a host', openPerHostMax, ({ ofHost }, key, turn) => ofHost(key, `organization ${turn % 3}`)],
] as [string, number, (readings: OpenReadings, key: string, turn: number) => () => void][])(
  'refuses %s one more than it allows, and each counts once and for itself',
  (_, max, count) => {
    const readings = createOpenReadings()
    const ends = Array.from({ length: max }, (_, turn) => count(readings, 'one', turn))
    const more = () => count(readings, 'one', 0)
    for (let again = 0; again < 5; again++) expect(more).toThrow(refusal)
    count(readings, 'other', 0)
    ends[0]!()
    ends[0]!()
    more()
    expect(more).toThrow(refusal)
  },
)

it('counts nothing of an organization whose host is full', () => {
  const readings = createOpenReadings()
  const ends = Array.from({ length: openPerHostMax }, (_, turn) =>
    readings.ofHost('host', `full ${turn % 2}`),
  )
  for (let count = 0; count < 9; count++) expect(() => readings.ofHost('host', 'late')).toThrow(refusal)
  for (const end of ends) end()
  for (let count = 0; count < openPerHostAndOrganizationMax; count++) readings.ofHost('host', 'late')
})

it('ends a reading at the end of its bytes, at a failure of the source and when the reader gives up', async () => {
  const end = vi.fn()
  expect(await new Response(untilRead(new Blob(['dock']).stream(), end, byLength)).text()).toBe('dock')
  expect(end).toHaveBeenCalledOnce()

  const failing = new ReadableStream({ pull: () => Promise.reject(new Error('the link broke')) })
  const failed = vi.fn()
  await expect(untilRead(failing, failed, byLength).getReader().read()).rejects.toThrow('the link broke')
  expect(failed).toHaveBeenCalledOnce()

  const { source, cancelled } = endless()
  const givenUp = vi.fn()
  const reader = untilRead(source, givenUp, byLength).getReader()
  await reader.read()
  expect(givenUp).not.toHaveBeenCalled()
  await reader.cancel()
  expect(givenUp).toHaveBeenCalledOnce()
  expect(cancelled).toHaveBeenCalledOnce()
})

it('cuts a reader off who asks for nothing more, or for nothing at all', async () => {
  for (const reads of [0, 2]) {
    const { source, cancelled } = endless()
    const ended = Promise.withResolvers<void>()
    const reader = untilRead(source, ended.resolve, { ...byLength, stallMs: 20 }).getReader()
    for (let count = 0; count < reads; count++) await reader.read()
    await ended.promise
    await expect(reader.read()).rejects.toThrow('takes nothing any more')
    expect(cancelled).toHaveBeenCalledOnce()
  }
})

/** For how many seconds a reading goes on, of at most so many pieces. Before each the reader waits. */
const secondsRead = async (pieces: number, waitSeconds: (piece: number) => number): Promise<number> => {
  vi.useFakeTimers()
  try {
    const began = performance.now()
    let ended: number | undefined
    const source = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new Uint8Array(1000)) },
      { highWaterMark: 0 },
    )
    const pace = { ...byLength, stallMs: 60_000, bytesPerSecond: 100 }
    const end = () => {
      ended ??= performance.now()
    }
    const reader = untilRead(source, end, pace).getReader()
    for (let piece = 0; piece < pieces && ended === undefined; piece++) {
      await vi.advanceTimersByTimeAsync(waitSeconds(piece) * 1000)
      if (ended === undefined) await reader.read()
    }
    return Math.round(((ended ?? performance.now()) - began) / 1000)
  } finally {
    vi.useRealTimers()
  }
}

it('cuts a reader off who takes a little now and then, and lets one who keeps the pace take as long as it is', async () => {
  // A piece of 1000 bytes is worth 10 seconds.
  expect(await secondsRead(1000, () => 55)).toBe(70)
  expect(await secondsRead(1000, () => 11)).toBeLessThan(700)
  expect(await secondsRead(1000, () => 9)).toBe(9000)
  // A pause is made good by haste, and haste gives no more than one pause.
  expect(await secondsRead(1000, (piece) => (piece % 10 === 9 ? 55 : 1))).toBe(100 * 64)
  expect(await secondsRead(1000, (piece) => (piece === 100 ? 61 : 0))).toBe(60)
})

it('waits for a slow source, whose time is not the reader’s', async () => {
  const slow = Promise.withResolvers<void>()
  const source = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await slow.promise
      controller.close()
    },
  })
  const ended = vi.fn()
  const read = untilRead(source, ended, { ...byLength, stallMs: 1 })
    .getReader()
    .read()
  const { promise: later, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 50)
  await later
  expect(ended).not.toHaveBeenCalled()
  slow.resolve()
  expect(await read).toMatchObject({ done: true })
})

it('breaks the connection of a reader who has stopped to read', async () => {
  const { source, cancelled } = endless()
  const big = source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (_, controller) => controller.enqueue(new Uint8Array(2 ** 20)),
    }),
  )
  const end = vi.fn()
  const server = serve({
    fetch: () => new Response(untilRead(big, end, { ...byLength, stallMs: 300 })),
    port: 0,
    hostname: '127.0.0.1',
    createServer,
  })
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: dock\r\n\r\n')
  socket.pause()
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce(), { timeout: 5000 })
  socket.resume().on('error', () => undefined)
  await once(socket, 'close')
  await vi.waitFor(() => expect(cancelled).toHaveBeenCalledOnce())
  server.close()
})
