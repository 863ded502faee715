/** Both outputs of a process in one response: one JSON object a line, which every language can read. */
import type { Readable } from 'node:stream'

/** `start` is the offset of the first byte of `body`, `first` that of the first byte that is kept. */
export type NamedOutput = { name: 'stdout' | 'stderr'; first: number; start: number; body: Readable }

type Next = { output: NamedOutput; iterator: AsyncIterator<Buffer>; result: IteratorResult<Buffer> }

const lineOf = (line: object): Buffer => Buffer.from(`${JSON.stringify(line)}\n`)

/** A reader whose connections break often must get a whole line in between, or it never gets further. */
const lineBytesMax = 24 * 1024

/**
 * Yields `{stream, offset, data}` for each piece as it arrives, with its bytes in base64, and `{stream, offset, end: true}`
 * at the end of each stream. The order between the streams is the order of arrival.
 */
export async function* outputLines(outputs: readonly NamedOutput[]): AsyncGenerator<Buffer> {
  const read = async (output: NamedOutput, iterator: AsyncIterator<Buffer>): Promise<Next> => ({
    output,
    iterator,
    result: await iterator.next(),
  })
  const next: typeof read = (output, iterator) => {
    const reading = read(output, iterator)
    // It may fail while nobody waits for it, because the reader is slow. It is waited for at the next line.
    reading.catch(() => undefined)
    return reading
  }
  const offsets = new Map(outputs.map(({ name, start }) => [name, start]))
  const waiting = new Map(
    outputs.map((output) => [output.name, next(output, output.body[Symbol.asyncIterator]())]),
  )
  while (waiting.size > 0) {
    const { output, iterator, result } = await Promise.race(waiting.values())
    const { name } = output
    const offset = offsets.get(name) ?? 0
    if (result.done) {
      waiting.delete(name)
      yield lineOf({ stream: name, offset, end: true })
      continue
    }
    const { value } = result
    offsets.set(name, offset + value.length)
    waiting.set(name, next(output, iterator))
    for (let at = 0; at < value.length; at += lineBytesMax) {
      const data = value.subarray(at, at + lineBytesMax).toString('base64')
      yield lineOf({ stream: name, offset: offset + at, data })
    }
  }
}
