import { duplexPair, PassThrough, Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Precedence, standBack } from './precedence.ts'

const megabyte = 1024 * 1024

/** An endless stream of bytes through a pipe, and how many have arrived. */
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
  standBack(from, to, precedence)
  from.pipe(to)
  return { arrived: () => arrived, end: () => from.destroy() }
}

test('a large stream stands still while a work has precedence, and goes on at its end', async () => {
  const precedence = new Precedence()
  const { arrived, end } = flowing(precedence)
  await expect.poll(arrived).toBeGreaterThan(2 * megabyte)
  const release = precedence.take()
  await new Promise((resolve) => setImmediate(resolve))
  const before = arrived()
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(precedence.isTaken).toBe(true)
  expect(arrived() - before).toBeLessThan(megabyte / 4)
  release()
  await expect.poll(arrived).toBeGreaterThan(before + megabyte)
  end()
})

test('a work that lasts, and one that follows the other, leave large streams their share', async () => {
  const precedence = new Precedence()
  const { arrived, end } = flowing(precedence)
  await expect.poll(arrived).toBeGreaterThan(2 * megabyte)
  precedence.take()
  const before = arrived()
  await expect.poll(arrived).toBeGreaterThan(before + 8 * megabyte)
  const until = performance.now() + 500
  const middle = arrived()
  while (performance.now() < until) {
    const release = precedence.take()
    await delay(5)
    release()
  }
  expect(arrived()).toBeGreaterThan(middle)
  end()
})

test('a small exchange waits for nothing', async () => {
  const precedence = new Precedence()
  precedence.take()
  const [near, far] = duplexPair()
  const from = new PassThrough()
  standBack(from, near, precedence)
  from.pipe(near)
  from.write('hello')
  const [bytes] = await new Promise<[Buffer]>((resolve) =>
    far.once('data', (...all) => resolve(all as [Buffer])),
  )
  expect(bytes.toString()).toBe('hello')
  expect(precedence.isTaken).toBe(true)
})

test('nothing is lost, doubled or held without bound before a slow reader', async () => {
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
  standBack(from, to, precedence)
  from.pipe(to)
  await delay(50)
  expect(sent).toBeLessThan(megabyte)
  let received = 0
  for await (const chunk of to) received += (chunk as Buffer).length
  expect(received).toBe(16 * megabyte)
})
