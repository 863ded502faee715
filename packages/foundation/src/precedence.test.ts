import { duplexPair, PassThrough, Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Precedence, throttleLargeStream } from './precedence.ts'

const megabyte = 1024 * 1024

/** Pipes an endless stream of bytes and counts those that arrived. */
const flowing = (precedence: Precedence, chunkBytes = 64 * 1024) => {
  const chunk = Buffer.alloc(chunkBytes)
  const from = new Readable({
    highWaterMark: chunkBytes,
    read: () => void setImmediate(() => from.push(chunk)),
  })
  const to = new PassThrough()
  let arrived = 0
  to.on('data', (bytes: Buffer) => {
    arrived += bytes.length
  })
  throttleLargeStream(from, to, precedence)
  from.pipe(to)
  return { arrived: () => arrived, end: () => from.destroy() }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('a large stream is throttled for 250 ms after short work began, then runs at full speed', async () => {
  let nowMs = 0
  const precedence = new Precedence(() => nowMs)
  const { arrived, end } = flowing(precedence)
  await expect.poll(arrived).toBeGreaterThan(2 * megabyte)
  precedence.take()
  await turns(2)
  const begin = performance.now()
  const before = arrived()
  await turns(200)
  const chunks = (arrived() - before) / (64 * 1024)
  expect(chunks).toBeLessThan(performance.now() - begin + 2)
  await expect.poll(arrived).toBeGreaterThan(before + 16 * 64 * 1024)
  nowMs = 251
  expect(precedence.isTaken).toBe(false)
  // The pause that has begun still ends on its own.
  const atPause = arrived()
  while (arrived() === atPause) await turns(1)
  const later = arrived()
  await turns(200)
  expect(arrived() - later).toBeGreaterThan(50 * 64 * 1024)
  end()
})

test('during() holds precedence until the work succeeds or fails, and 250 ms longer', async () => {
  let nowMs = 0
  const precedence = new Precedence(() => nowMs)
  let end = (): void => undefined
  const work = precedence.during(() => new Promise<void>((resolve) => (end = resolve)))
  const failing = precedence.during(() => Promise.reject(new Error('no')))
  nowMs = 10_000
  expect(precedence.isTaken).toBe(true)
  await expect(failing).rejects.toThrow('no')
  nowMs = 20_000
  expect(precedence.isTaken).toBe(true)
  end()
  await work
  nowMs = 20_249
  expect(precedence.isTaken).toBe(true)
  nowMs = 20_250
  expect(precedence.isTaken).toBe(false)
})

test('waitUntilFree() resolves when precedence is free, or at its timeout', async () => {
  let nowMs = 0
  const precedence = new Precedence(() => nowMs)
  await precedence.waitUntilFree(1_000)
  precedence.take()
  let isOver = false
  const waited = precedence.waitUntilFree(1_000).then(() => {
    isOver = true
  })
  await delay(60)
  expect(isOver).toBe(false)
  nowMs = 250
  await waited
  void precedence.during(() => new Promise(() => undefined))
  const givenUp = precedence.waitUntilFree(1_000)
  nowMs = 1_250
  await givenUp
  expect(precedence.isTaken).toBe(true)
})

test('a small stream is not throttled', async () => {
  const precedence = new Precedence()
  precedence.take()
  const [near, far] = duplexPair()
  const from = new PassThrough()
  throttleLargeStream(from, near, precedence)
  from.pipe(near)
  from.write('hello')
  const [bytes] = await new Promise<[Buffer]>((resolve) =>
    far.once('data', (...all) => resolve(all as [Buffer])),
  )
  expect(bytes.toString()).toBe('hello')
  expect(precedence.isTaken).toBe(true)
})

test('a slow reader gets every byte once, and buffering is bounded', async () => {
  const precedence = new Precedence()
  let sent = 0
  const from = new Readable({
    highWaterMark: 64 * 1024,
    read() {
      const chunk = Buffer.alloc(64 * 1024, sent % 251)
      sent += chunk.length
      this.push(sent > 16 * megabyte ? null : chunk)
    },
  })
  const to = new PassThrough({ highWaterMark: 64 * 1024 })
  throttleLargeStream(from, to, precedence)
  from.pipe(to)
  await delay(50)
  expect(sent).toBeLessThan(megabyte)
  let received = 0
  for await (const chunk of to) received += (chunk as Buffer).length
  expect(received).toBe(16 * megabyte)
})
