/** How reads of Snapshots end. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { serve } from '@hono/node-server'
import { expect, it, vi } from 'vitest'
import { limitSlowReader } from './limit-slow-reader.ts'
import type { HostReading } from './open-readings.ts'

const text = new TextEncoder()
const byLength = { bytesOf: (piece: Uint8Array) => piece.length }
/** For a busy machine. */
const patiently = { timeout: 60_000 }

/** Creates an endless stream that produces each piece on demand. */
const endless = () => {
  const cancelled = vi.fn()
  const source = new ReadableStream<Uint8Array>(
    { pull: (controller) => controller.enqueue(text.encode('x')), cancel: cancelled },
    { highWaterMark: 0 },
  )
  return { source, cancelled }
}

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

it('tells its place what was read, and ends when the place is given away', async () => {
  const { source, cancelled } = endless()
  const end = vi.fn()
  const took = vi.fn()
  let stopRead = (): void => undefined
  const place: HostReading = {
    end,
    took,
    allowDisplacement: (by) => {
      stopRead = by
    },
  }
  const reader = limitSlowReader(source, end, { ...byLength, place }).getReader()
  await reader.read()
  expect(took).toHaveBeenCalledExactlyOnceWith(1)
  stopRead()
  expect(end).toHaveBeenCalledOnce()
  await expect(reader.read()).rejects.toThrow('stopped for another organization')
  expect(cancelled).toHaveBeenCalledOnce()
})

it('can give its place away while the source is waited for', async () => {
  const slow = Promise.withResolvers<void>()
  const source = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        await slow.promise
        controller.enqueue(text.encode('late'))
      },
    },
    { highWaterMark: 0 },
  )
  let stopRead = (): void => undefined
  const place: HostReading = {
    end: () => undefined,
    took: () => undefined,
    allowDisplacement: (by) => {
      stopRead = by
    },
  }
  const reading = limitSlowReader(source, () => undefined, { ...byLength, place })
    .getReader()
    .read()
  stopRead()
  slow.resolve()
  await expect(reading).rejects.toThrow('stopped for another organization')
})
