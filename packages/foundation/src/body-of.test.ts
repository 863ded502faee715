import { PassThrough, Readable, Transform } from 'node:stream'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { describe, expect, it } from 'vitest'
import { bodyOf } from './body-of.ts'

const chunk = Buffer.alloc(64 * 1024, 'x')

/** Time for events and rejections that were caused so far. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const endless = (): Readable =>
  Readable.from(
    (async function* () {
      for (;;) yield chunk
    })(),
    { objectMode: false },
  )

/** Streams with bytes that wait inside, as those of a link have. */
const streams: Record<string, () => Readable> = {
  'a PassThrough that was filled': () => {
    const stream = new PassThrough({ highWaterMark: 128 * 1024 })
    for (let written = 0; written < 8; written++) stream.write(chunk)
    return stream
  },
  'a piped stream': () => endless().pipe(new PassThrough()),
  'a Transform': () =>
    endless().pipe(new Transform({ transform: (bytes, _encoding, done) => done(null, bytes) })),
  'a generator': endless,
}

describe('bodyOf', () => {
  it('passes all bytes on', async () => {
    const parts = [Buffer.from('a'), Buffer.alloc(300_000, 'b'), Buffer.from('c')]
    const whole = await new Response(bodyOf(Readable.from(parts, { objectMode: false }))).arrayBuffer()
    expect(Buffer.from(whole).equals(Buffer.concat(parts))).toBe(true)
  })

  it.each(Object.keys(streams))('of %s survives a reader that leaves at any moment', async (name) => {
    const leave = async (reads: number): Promise<void> => {
      const stream = streams[name]!()
      const reader = bodyOf(stream).getReader()
      for (let read = 0; read < reads % 4; read++) await reader.read()
      const pending = reads % 2 ? reader.read() : undefined
      for (let turn = 0; turn < reads % 5; turn++) await Promise.resolve()
      await reader.cancel(reads % 3 ? undefined : new Error('left'))
      await pending
      await settle()
      expect(stream.destroyed).toBe(true)
    }
    const leaveOften = async (): Promise<void> => {
      for (let reads = 0; reads < 60; reads++) await leave(reads)
    }
    expect(await uncaughtDuring(leaveOften)).toEqual([])
  })

  it('reads nothing that nobody asked for', async () => {
    let made = 0
    const body = bodyOf(
      (async function* () {
        for (;;) {
          made += 1
          yield chunk
        }
      })(),
    )
    await settle()
    expect(made).toBe(0)
    await body.getReader().read()
    await settle()
    expect(made).toBe(1)
  })

  it('gives the reader an error of the stream, also one from before the first read', async () => {
    const stream = new PassThrough()
    const reader = bodyOf(stream).getReader()
    expect(await uncaughtDuring(() => stream.destroy(new Error('the link broke')))).toEqual([])
    await expect(reader.read()).rejects.toThrow('the link broke')
  })

  it('destroys a silent stream at once', async () => {
    const stream = new PassThrough()
    const reader = bodyOf(stream).getReader()
    const pending = reader.read()
    expect(await uncaughtDuring(() => reader.cancel())).toEqual([])
    expect(stream.destroyed).toBe(true)
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  it('closes a generator, and ignores what it throws then', async () => {
    let isClosed = false
    const body = bodyOf(
      (async function* () {
        try {
          for (;;) yield chunk
        } finally {
          isClosed = true
          // biome-ignore lint/correctness/noUnsafeFinally: this is what the test is about
          throw new Error('in the end')
        }
      })(),
    )
    const reader = body.getReader()
    await reader.read()
    expect(await uncaughtDuring(() => reader.cancel())).toEqual([])
    expect(isClosed).toBe(true)
  })
})
