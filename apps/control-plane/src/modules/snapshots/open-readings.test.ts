/** Limits of concurrent reads of Snapshots, and how reads end. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { limits } from '@dock/contract'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { serve } from '@hono/node-server'
import { expect, it, vi } from 'vitest'
import { createOpenReadings, limitSlowReader, type OpenReadings } from './open-readings.ts'

const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax } = limits.snapshotReadings
const text = new TextEncoder()
const byLength = { bytesOf: (piece: Uint8Array) => piece.length }
/** For a busy machine. */
const patiently = { timeout: 60_000 }
const refusal = expect.objectContaining({ code: 'rate_limited' })

/** Creates an endless stream that produces each piece on demand. */
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
  'refuses %s more reads than the limit; each key is counted separately and each read once',
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

it('does not count a refused read for the organization if the host is at its limit', () => {
  const readings = createOpenReadings()
  const ends = Array.from({ length: openPerHostMax }, (_, turn) =>
    readings.ofHost('host', `full ${turn % 2}`),
  )
  for (let count = 0; count < 9; count++) expect(() => readings.ofHost('host', 'late')).toThrow(refusal)
  for (const end of ends) end()
  for (let count = 0; count < openPerHostAndOrganizationMax; count++) readings.ofHost('host', 'late')
})

it('ends a read at the end of the stream, on an error of the source and on cancel', async () => {
  const end = vi.fn()
  expect(await new Response(limitSlowReader(new Blob(['dock']).stream(), end, byLength)).text()).toBe('dock')
  expect(end).toHaveBeenCalledOnce()

  const failing = new ReadableStream({ pull: () => Promise.reject(new Error('the link broke')) })
  const failed = vi.fn()
  await expect(limitSlowReader(failing, failed, byLength).getReader().read()).rejects.toThrow(
    'the link broke',
  )
  expect(failed).toHaveBeenCalledOnce()

  const { source, cancelled } = endless()
  const givenUp = vi.fn()
  const reader = limitSlowReader(source, givenUp, byLength).getReader()
  await reader.read()
  expect(givenUp).not.toHaveBeenCalled()
  await reader.cancel()
  expect(givenUp).toHaveBeenCalledOnce()
  expect(cancelled).toHaveBeenCalledOnce()
})

it('cuts off a reader who stops reading or never reads', async () => {
  for (const reads of [0, 2]) {
    const { source, cancelled } = endless()
    const ended = Promise.withResolvers<void>()
    const reader = limitSlowReader(source, ended.resolve, { ...byLength, stallMs: 20 }).getReader()
    for (let count = 0; count < reads; count++) await reader.read()
    await ended.promise
    await expect(reader.read()).rejects.toThrow('stopped reading')
    expect(cancelled).toHaveBeenCalledOnce()
  }
})

/** Returns how many seconds a read of `pieces` pieces lasts if the reader waits before each piece. */
const secondsRead = async (pieces: number, waitSeconds: (piece: number) => number): Promise<number> => {
  const clock = createVirtualClock()
  const secondsNow = () => clock.now().getTime() / 1000
  const began = secondsNow()
  let ended: number | undefined
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(new Uint8Array(1000)) },
    { highWaterMark: 0 },
  )
  const pace = { ...byLength, stallMs: 60_000, bytesPerSecond: 100, clock }
  const end = () => {
    ended ??= secondsNow()
  }
  const reader = limitSlowReader(source, end, pace).getReader()
  for (let piece = 0; piece < pieces && ended === undefined; piece++) {
    await clock.advanceInSteps(waitSeconds(piece) * 1000)
    if (ended === undefined) await reader.read()
  }
  return (ended ?? secondsNow()) - began
}

it('cuts off a reader below the minimum rate, and lets one who keeps the rate read to the end', async () => {
  // A piece of 1000 bytes adds 10 seconds to the budget.
  expect(await secondsRead(1000, () => 55)).toBe(70)
  expect(await secondsRead(1000, () => 11)).toBeLessThan(700)
  expect(await secondsRead(1000, () => 9)).toBe(9000)
  // Reading fast makes up for a pause, but the budget never exceeds the length of one pause.
  expect(await secondsRead(1000, (piece) => (piece % 10 === 9 ? 55 : 1))).toBe(100 * 64)
  expect(await secondsRead(1000, (piece) => (piece === 100 ? 61 : 0))).toBe(60)
})

it('does not cut off a reader because the source is slow', async () => {
  const slow = Promise.withResolvers<void>()
  const source = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await slow.promise
      controller.close()
    },
  })
  const ended = vi.fn()
  const read = limitSlowReader(source, ended, { ...byLength, stallMs: 1 })
    .getReader()
    .read()
  const { promise: later, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 50)
  await later
  expect(ended).not.toHaveBeenCalled()
  slow.resolve()
  expect(await read).toMatchObject({ done: true })
})

it('closes the connection of a reader who stops reading', async () => {
  const { source, cancelled } = endless()
  const big = source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (_, controller) => controller.enqueue(new Uint8Array(2 ** 20)),
    }),
  )
  const end = vi.fn()
  const server = serve({
    fetch: () => new Response(limitSlowReader(big, end, { ...byLength, stallMs: 300 })),
    port: 0,
    hostname: '127.0.0.1',
    createServer,
  })
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: dock\r\n\r\n')
  socket.pause()
  await vi.waitFor(() => expect(end).toHaveBeenCalledOnce(), patiently)
  socket.resume().on('error', () => undefined)
  await once(socket, 'close')
  await vi.waitFor(() => expect(cancelled).toHaveBeenCalledOnce(), patiently)
  server.close()
})
