/** How fast guests are read: one that sends without end waits, and its neighbours do not. */
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FrameParser, frameParts } from './frames.ts'
import { sizes, types } from './protocol.ts'
import { ReadingPace } from './reading-pace.ts'

const rate = 2 ** 20
const burst = 8 * 2 ** 20

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

/** A guest that repeats this chunk as fast as it is read. */
const flood = (pace: ReadingPace, chunk: Buffer): { bytes: number; frames: number } => {
  const seen = { bytes: 0, frames: 0 }
  const parser = new FrameParser(() => {
    seen.frames += 1
  })
  const stream = new Duplex({ read: () => void stream.push(chunk), write: () => undefined })
  pace.newShare().read(stream, (bytes, framesMax) => {
    let frames = 0
    const taken = parser.feed(bytes, () => frames++ === framesMax)
    seen.bytes += taken
    return { bytes: taken, frames: Math.min(frames, framesMax) }
  })
  return seen
}
const advance = async (ms: number): Promise<void> => {
  for (let passed = 0; passed < ms; passed += 1) {
    vi.advanceTimersByTime(1)
    for (let turn = 0; turn < 3; turn += 1) await nextTurn()
  }
}
const frame = (length: number): Buffer => Buffer.concat(frameParts(types.data, 1, 1, Buffer.alloc(length)))
const crumbs = Buffer.concat(Array.from({ length: 4_000 }, () => frame(1)))

it('reads what comes at once, and an endless stream at its rate', async () => {
  const seen = flood(new ReadingPace(rate), frame(sizes.payloadMax))
  await vi.waitFor(() => expect(seen.bytes).toBeGreaterThan(burst))
  const before = seen.bytes
  await advance(10_000)
  expect((seen.bytes - before) / (10 * rate)).toBeCloseTo(1, 1)
})

it('counts frames as well as bytes', async () => {
  const seen = flood(new ReadingPace(rate), crumbs)
  await advance(5_000)
  const before = seen.frames
  await advance(10_000)
  expect((seen.frames - before) / 10).toBeLessThan(rate / 2_048)
  expect((seen.frames - before) / 10).toBeGreaterThan(rate / 2_048 / 2)
})

it('shares the rate among guests that send without end', async () => {
  const pace = new ReadingPace(rate)
  const guests = [1, 2, 3, 4].map(() => flood(pace, frame(sizes.payloadMax)))
  await advance(20_000)
  const before = guests.map(({ bytes }) => bytes)
  await advance(20_000)
  const rates = guests.map(({ bytes }, index) => (bytes - before[index]!) / 20)
  expect(rates.reduce((sum, each) => sum + each) / rate).toBeLessThan(1.4)
  expect(Math.min(...rates) / Math.max(...rates)).toBeGreaterThan(0.8)
})

it('gives the others a turn within a chunk of many frames', async () => {
  const turns: number[] = []
  const stream = new Duplex({ read: () => undefined, write: () => undefined })
  new ReadingPace().newShare().read(stream, (chunk, framesMax) => {
    turns.push(framesMax)
    return { bytes: Math.min(chunk.length, 10), frames: 1 }
  })
  stream.push(Buffer.alloc(25))
  await new Promise(process.nextTick)
  expect(turns.length).toBe(1)
  await vi.waitFor(() => expect(turns.length).toBe(3))
})
