/** Lists of the host protocol: lines of JSON that end with `{"end":true}`. */
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import { lastLine } from './capture-messages.ts'
import { AgentRefusal, LinkLost } from './link-errors.ts'
import { LineTooLong, splitLines } from './split-lines.ts'

/** The longest is of a file whose path is as long as a path can be, each of its characters escaped. */
const lineBytesMax = 64 * 1024
const notInProtocol = (): AgentRefusal =>
  new AgentRefusal('failed', 'a line of the host is not in the protocol', 200)

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
  try {
    for await (const lines of splitLines(stream, lineBytesMax)) {
      const items: z.output<Item>[] = []
      for (const line of lines) {
        const value = parsed(line)
        const checked = item.safeParse(value)
        if (checked.success) items.push(checked.data)
        else if (!lastLine.safeParse(value).success) throw notInProtocol()
        else {
          yield items
          return
        }
      }
      yield items
    }
  } catch (error) {
    throw error instanceof LineTooLong ? notInProtocol() : error
  } finally {
    stream.destroy()
  }
  throw new LinkLost('the list was cut')
}
