/** Disks that come and go over the link: lists of chunk names, sealed chunks, a line of JSON with chunks behind it. */
import { Readable } from 'node:stream'
import { type CopyKeys, parseCopyKeys } from '@dock/copy-format'
import { AgentRefusal } from '../docks/agent-refusal.ts'

const headBytesMax = 4096
const itemsAtOnce = 500

/** Throws `invalid`. */
export function keysFrom(secret: string): CopyKeys {
  try {
    return parseCopyKeys(secret)
  } catch {
    throw new AgentRefusal('invalid', 'keys: not a secret of copy keys')
  }
}

/** Items some hundred at a time: one write each would cost more than making them. */
export async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    if (batch.push(item) < itemsAtOnce) continue
    yield batch
    batch = []
  }
  yield batch
}

/** One line of JSON an item, and the line that ends them. */
export async function* asLines(batches: AsyncIterable<readonly object[]>): AsyncGenerator<Buffer> {
  for await (const batch of batches)
    if (batch.length > 0) yield Buffer.from(`${batch.map((item) => JSON.stringify(item)).join('\n')}\n`)
  yield Buffer.from(`${JSON.stringify({ end: true })}\n`)
}

export function streamed(parts: AsyncIterable<Buffer>, contentType: string): Response {
  return new Response(
    Readable.toWeb(Readable.from(parts, { objectMode: false })) as unknown as ReadableStream,
    {
      headers: { 'content-type': contentType },
    },
  )
}

/** The first line of a stream, and what follows it. */
export async function splitHead(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ head: unknown; rest: AsyncGenerator<Uint8Array> }> {
  const source = stream[Symbol.asyncIterator]()
  let held = Buffer.alloc(0)
  let end = -1
  while (end < 0) {
    const { done, value } = await source.next()
    if (done || held.length > headBytesMax) throw new AgentRefusal('invalid', 'the first line is missing')
    held = Buffer.concat([held, value])
    end = held.indexOf(10)
  }
  const after = held.subarray(end + 1)
  async function* rest(): AsyncGenerator<Uint8Array> {
    if (after.length > 0) yield after
    yield* { [Symbol.asyncIterator]: () => source }
  }
  try {
    return { head: JSON.parse(held.toString('utf8', 0, end)), rest: rest() }
  } catch {
    throw new AgentRefusal('invalid', 'the first line is not JSON')
  }
}
