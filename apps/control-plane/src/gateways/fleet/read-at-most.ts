/** Reads a short body that a host sends. A hostile host could make it endless. */
import type { Readable } from 'node:stream'

/** What a refusal or a short answer may take: far more than any agent sends. */
export const shortBodyBytesMax = 64 * 1024

/** The body, or null once it is longer than `bytesMax`: its stream is destroyed then, which cancels the call at the host. */
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
