/** Lists of the host protocol: lines of JSON that end with `{"end":true}`. */
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import { lastLine } from './capture-messages.ts'
import { AgentRefusal, LinkLost } from './link-errors.ts'

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new LinkLost('the list was cut', { cause: error })
  }
}

/**
 * The items of a list, checked, as many at a time as have come. Throws {@link LinkLost} when it was cut, AgentRefusal
 * when it is not in the protocol.
 */
export async function* readLines<Item extends z.ZodType>(
  stream: Readable,
  item: Item,
): AsyncGenerator<z.output<Item>[]> {
  let rest = ''
  try {
    for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      const items: z.output<Item>[] = []
      for (const line of lines) {
        const value = parsed(line)
        const checked = item.safeParse(value)
        if (checked.success) items.push(checked.data)
        else if (!lastLine.safeParse(value).success)
          throw new AgentRefusal('failed', 'a line of the host is not in the protocol', 200)
        else {
          yield items
          return
        }
      }
      yield items
    }
  } finally {
    stream.destroy()
  }
  throw new LinkLost('the list was cut')
}
