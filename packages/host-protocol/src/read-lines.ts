/** Lists of the host protocol: lines of JSON that end with `{"end":true}`. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import { lastLine } from './capture-messages.ts'
import { AgentRefusal, LinkLost } from './link-errors.ts'

/** The items of a list, checked. Throws {@link LinkLost} when it was cut, AgentRefusal when it is not in the protocol. */
export async function* readLines<Item extends z.ZodType>(
  stream: Readable,
  item: Item,
): AsyncGenerator<z.output<Item>> {
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      const value: unknown = JSON.parse(line)
      const parsed = item.safeParse(value)
      if (parsed.success) yield parsed.data
      else if (lastLine.safeParse(value).success) return
      else throw new AgentRefusal('failed', 'a line of the host is not in the protocol', 200)
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw new LinkLost('the list was cut', { cause: error })
    throw error
  } finally {
    stream.destroy()
  }
  throw new LinkLost('the list was cut')
}
