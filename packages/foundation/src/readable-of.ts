/** The bytes of a web stream as a Node stream. */
import { Readable } from 'node:stream'

const noop = (): void => undefined

/**
 * Returns a Node stream that reads `body` only as fast as it is read itself, and cancels it when it is destroyed. An
 * error of the body is the error of the stream. It ends no process if nobody listens to it: a caller may disconnect
 * before anything reads the body. `within` may limit how long one read of the body takes, and
 * `onBytes` gets the length of what has arrived.
 */
export function readableOf(
  body: ReadableStream<Uint8Array>,
  within: <T>(read: Promise<T>) => Promise<T> = (read) => read,
  onBytes: (length: number) => void = noop,
): Readable {
  const reader = body.getReader()
  const readable = new Readable({
    read: () => {
      within(reader.read()).then(
        ({ done, value }) => {
          if (value) onBytes(value.length)
          readable.push(done ? null : value)
        },
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
