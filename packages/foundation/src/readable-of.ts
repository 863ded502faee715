/** The bytes of a web stream as a Node stream. */
import { Readable } from 'node:stream'

const noop = (): void => undefined

/**
 * Returns a Node stream that reads `body` only as fast as it is read itself, and cancels it when it is destroyed. An
 * error of the body is the error of the stream. It ends no process if nobody listens to it: a caller may disconnect
 * before anything reads the body.
 */
export function readableOf(body: ReadableStream<Uint8Array>): Readable {
  const reader = body.getReader()
  const readable = new Readable({
    read: () => {
      reader.read().then(
        ({ done, value }) => readable.push(done ? null : value),
        (error: Error) => readable.destroy(error),
      )
    },
    destroy: (error, done) => {
      reader.cancel(error).catch(noop)
      done(error)
    },
  })
  return readable.on('error', noop)
}
