/** A message with its length before it (u32, big endian), at the beginning of a stream of raw bytes. */
import type { Readable } from 'node:stream'

const lengthBytes = 4

export function encodeMessage(message: Buffer): Buffer {
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32BE(message.length)
  return Buffer.concat([length, message])
}

/** Reads exactly `count` bytes and leaves the rest in the stream. */
const readExactly = (stream: Readable, count: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const events = ['readable', 'end', 'close']
    const attempt = (): void => {
      const bytes: Buffer | null = stream.read(count)
      if (bytes === null && !stream.destroyed && !stream.readableEnded) return
      for (const event of events) stream.off(event, attempt)
      if (bytes?.length === count) resolve(bytes)
      else reject(new Error('the stream ended within a message'))
    }
    // One listener until the bytes are there: adding one again would be called again at once.
    for (const event of events) stream.on(event, attempt)
    attempt()
  })

/** Reads the message at the beginning of a stream. Throws if it is longer than `bytesMax` or incomplete. */
export async function readMessage(stream: Readable, bytesMax: number): Promise<Buffer> {
  const length = (await readExactly(stream, lengthBytes)).readUInt32BE()
  if (length > bytesMax) throw new Error(`the message is longer than ${bytesMax} bytes`)
  return length === 0 ? Buffer.alloc(0) : readExactly(stream, length)
}
