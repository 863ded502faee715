import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { encodeMessage, readMessage } from './length-prefixed.ts'
import { encodeFrame, FrameReader, writeFrame } from './process-frames.ts'

const frames = Buffer.concat([
  encodeFrame('stdout', Buffer.from('one')),
  encodeFrame('stderr', Buffer.alloc(0)),
  encodeFrame('stderr', Buffer.from('two')),
  encodeFrame('end', Buffer.from('{}')),
])

const read = (chunks: readonly Buffer[]) => {
  const seen = { stdout: '', stderr: '', end: [] as string[] }
  const reader = new FrameReader({
    stdout: (bytes) => {
      seen.stdout += bytes
    },
    stderr: (bytes) => {
      seen.stderr += bytes
    },
    end: (text) => void seen.end.push(text),
  })
  for (const chunk of chunks) reader.feed(chunk)
  return seen
}

test('frames are read, however they are cut', () => {
  for (let size = 1; size <= frames.length; size += 1) {
    const chunks: Buffer[] = []
    for (let at = 0; at < frames.length; at += size) chunks.push(frames.subarray(at, at + size))
    expect(read(chunks)).toEqual({ stdout: 'one', stderr: 'two', end: ['{}'] })
  }
})

test('a frame is written from pieces', async () => {
  const stream = new PassThrough()
  writeFrame(stream, 'stdout', [Buffer.from('on'), Buffer.from('e')])
  writeFrame(stream, 'stderr', [])
  writeFrame(stream, 'stderr', [Buffer.from('two')])
  stream.end(encodeFrame('end', Buffer.from('{}')))
  expect(Buffer.concat(await stream.toArray())).toEqual(frames)
})

test('refuses frames of an unknown kind, and an end that is too long', () => {
  expect(() => read([Buffer.from([9, 0, 0, 0, 1, 0])])).toThrow('unknown kind')
  expect(() => read([encodeFrame('stdin', Buffer.from('not downwards'))])).toThrow('unknown kind')
  expect(() => read([Buffer.from([3, 0, 2, 0, 0])])).toThrow('too long')
})

test('a message is read from chunks, and what follows stays in the stream', async () => {
  const stream = new PassThrough()
  const message = readMessage(stream, 100)
  const bytes = Buffer.concat([encodeMessage(Buffer.from('hello')), Buffer.from('rest')])
  for (const byte of bytes) {
    stream.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(String(await message)).toBe('hello')
  stream.end()
  let rest = ''
  for await (const chunk of stream) rest += chunk
  expect(rest).toBe('rest')
})

test('a message that is too long or incomplete is refused', async () => {
  const long = new PassThrough()
  long.end(encodeMessage(Buffer.alloc(101)))
  await expect(readMessage(long, 100)).rejects.toThrow('longer than 100')
  const cut = new PassThrough()
  cut.end(encodeMessage(Buffer.from('hello')).subarray(0, 6))
  await expect(readMessage(cut, 100)).rejects.toThrow('within a message')
})
