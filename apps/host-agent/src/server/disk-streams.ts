/** Streams of disk data over the link: lists of chunk names, sealed chunks, and a JSON line followed by chunks. */
import { type CopyKeys, parseCopyKeys } from '@dock/copy-format'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'

const headBytesMax = 4096
const itemsAtOnce = 500

/** Parses the secret of copy keys. Throws `invalid`. */
export function keysFrom(secret: string): CopyKeys {
  try {
    return parseCopyKeys(secret)
  } catch {
    throw new AgentRefusal('invalid', 'keys: not a valid secret of copy keys')
  }
}

/** Groups items into batches of some hundred: a write for each item would cost more than producing it. */
export async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    if (batch.push(item) < itemsAtOnce) continue
    yield batch
    batch = []
  }
  yield batch
}

/** Yields one line of JSON for each item, then a final line that marks the end. */
export async function* asLines(batches: AsyncIterable<readonly object[]>): AsyncGenerator<Buffer> {
  for await (const batch of batches)
    if (batch.length > 0) yield Buffer.from(`${batch.map((item) => JSON.stringify(item)).join('\n')}\n`)
  yield Buffer.from(`${JSON.stringify({ end: true })}\n`)
}

/** Splits a stream into its first line, parsed as JSON, and the rest. Throws `invalid`. */
export async function splitHead(
  stream: AsyncIterable<Uint8Array> | null,
): Promise<{ head: unknown; rest: AsyncGenerator<Uint8Array> }> {
  if (!stream) throw new AgentRefusal('invalid', 'the request body is missing')
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
