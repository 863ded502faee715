/** Reads lists of the host protocol: lines of JSON that end with `{"end":true}`. */
import type { Readable } from 'node:stream'
import type * as z from 'zod'
import { lastLine } from './capture-messages.ts'
import { HostRefused, HostUnreachable } from './link-errors.ts'
import { LineTooLong, splitLines } from './split-lines.ts'

/** Fits the longest line: a file whose path has the maximum length, with every character escaped. */
const lineBytesMax = 64 * 1024
const notInProtocol = (): HostRefused =>
  new HostRefused('failed', "a line of the host's list is not in the protocol")

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new HostUnreachable("the host's list is truncated", { cause: error })
  }
}

/**
 * Yields the validated items of a list in batches, as they arrive. Throws {@link HostUnreachable} if the list is truncated,
 * HostRefused if a line does not match `item`.
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
  throw new HostUnreachable("the host's list is truncated")
}
