/** How many readings of Snapshots there are at once, and how each of them ends. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { limits } from '@dock/contract'
import { serve } from '@hono/node-server'
import { expect, it, vi } from 'vitest'
import { createOpenReadings, untilRead } from './open-readings.ts'

const { openPerUserMax, openPerHostMax } = limits.snapshotReadings
const text = new TextEncoder()

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
  ['ofUser', openPerUserMax],
  ['ofHost', openPerHostMax],
] as const)('%s refuses one more than it allows, and each counts once and for itself', (kind, max) => {
  const readings = createOpenReadings()
  const ends = Array.from({ length: max }, () => readings[kind]('one'))
  const more = () => readings[kind]('one')
  expect(more).toThrow(expect.objectContaining({ code: 'rate_limited' }))
  readings[kind]('other')
  ends[0]!()
  ends[0]!()
  more()
  expect(more).toThrow(expect.objectContaining({ code: 'rate_limited' }))
})

it('ends a reading at the end of its bytes, at a failure of the source and when the reader gives up', async () => {
  const end = vi.fn()
  expect(await new Response(untilRead(new Blob(['dock']).stream(), end)).text()).toBe('dock')
  expect(end).toHaveBeenCalledOnce()

  const failing = new ReadableStream({ pull: () => Promise.reject(new Error('the link broke')) })
  const failed = vi.fn()
  await expect(untilRead(failing, failed).getReader().read()).rejects.toThrow('the link broke')
  expect(failed).toHaveBeenCalledOnce()

  const { source, cancelled } = endless()
  const givenUp = vi.fn()
  const reader = untilRead(source, givenUp).getReader()
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
    const reader = untilRead(source, ended.resolve, 20).getReader()
    for (let count = 0; count < reads; count++) await reader.read()
    await ended.promise
    await expect(reader.read()).rejects.toThrow('takes nothing any more')
    expect(cancelled).toHaveBeenCalledOnce()
  }
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
  const read = untilRead(source, ended, 1).getReader().read()
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
    fetch: () => new Response(untilRead(big, end, 300)),
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
