/** The body of a response, made from a Node stream or another source of bytes. */
import { Readable } from 'node:stream'

const noop = (): void => undefined

/**
 * Returns a body that reads `source` only as fast as it is read itself. If the reader leaves, it destroys a Node stream
 * at once, and closes any other source after the chunk that it is waiting for; `cancel` replaces that.
 *
 * Use this in place of `Readable.toWeb`, which goes on to enqueue what a destroyed stream still holds. That throws in an
 * event of the stream, where nothing can catch it, and ends the process.
 */
export function bodyOf(source: AsyncIterable<Uint8Array>, cancel?: () => void): ReadableStream<Uint8Array> {
  // A stream may fail before anybody reads. Its reader gets the error with the first read.
  if (source instanceof Readable) source.on('error', noop)
  const iterator = source[Symbol.asyncIterator]()
  let isCancelled = false
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next()
        if (isCancelled) return
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => {
        isCancelled = true
        if (cancel) cancel()
        else if (source instanceof Readable) source.destroy()
        else iterator.return?.().catch(noop)
      },
    },
    { highWaterMark: 0 },
  )
}
