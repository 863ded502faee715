/** Turns bytes of a host into the body of a response. */
import type { Readable } from 'node:stream'

/**
 * Reads `source` only as fast as the response is read. If the client disconnects, destroys `bodies` at once: `source` may
 * be waiting for bytes that never come.
 */
export function streamOf(
  source: AsyncIterable<Uint8Array>,
  bodies: readonly Readable[],
): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => {
        for (const body of bodies) body.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
