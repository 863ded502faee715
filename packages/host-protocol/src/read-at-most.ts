/** Reads a short body that a host sends. A hostile host could make it endless. */
import type { Readable } from 'node:stream'

/** Maximum size of a refusal or a short response. Agents send far less. */
export const shortBodyBytesMax = 64 * 1024

/** Returns the body. If it is longer than `bytesMax`, returns null and destroys the stream, which cancels the call. */
export async function readAtMost(stream: Readable, bytesMax: number): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
