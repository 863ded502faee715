/** Reads bodies of responses. */
import { ConnectionError } from './dock-error.ts'

/** Yields the bytes of a body as they arrive. Throws a `ConnectionError` if the connection breaks. */
export async function* bodyChunks(
  response: Response,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const reader = response.body?.getReader()
  if (!reader) return
  let isOver = false
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        isOver = true
        if (signal?.aborted) throw signal.reason
        throw new ConnectionError('The connection broke during the response.', error)
      })
      if (done) {
        isOver = true
        return
      }
      yield value
    }
  } finally {
    if (!isOver) await reader.cancel().catch(() => undefined)
  }
}

/** A line longer than this is passed on in pieces: the other side decides how long its lines are. */
const lineLengthMax = 1024 * 1024

/** Yields the lines of UTF-8 text, without their line breaks. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  lengthMax: number = lineLengthMax,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
    if (rest.length > lengthMax) {
      yield rest
      rest = ''
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

/** Returns all bytes. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  for await (const chunk of chunks) parts.push(chunk as Uint8Array<ArrayBuffer>)
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}
