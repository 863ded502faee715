import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { HostRefused, HostUnreachable } from './link-errors.ts'
import { readLines } from './read-lines.ts'

const item = z.strictObject({ name: z.string() })
/** Streams the bytes of the text in pieces, as they arrive over a link. */
const inPieces = (text: string, length: number): Readable => {
  const bytes = Buffer.from(text)
  const count = Math.ceil(bytes.length / length)
  const piece = (_: unknown, index: number) => bytes.subarray(index * length, (index + 1) * length)
  return Readable.from(Array.from({ length: count }, piece), { objectMode: false })
}
const read = async (stream: Readable) => (await Array.fromAsync(readLines(stream, item))).flat()
const names = ['plain', 'é and 😀', 'line\nbreak']
const lines = names.map((name) => `${JSON.stringify({ name })}\n`).join('')

it.each([1, 3, 7, 1_000])('reads every item, in pieces of %i bytes', async (length) => {
  const items = await read(inPieces(`${lines}{"end":true}\n`, length))
  expect(items.map(({ name }) => name)).toEqual(names)
})

it.each([lines, lines.slice(0, -1), `${lines}{"end"`, ''])('rejects a truncated list', async (text) => {
  await expect(read(inPieces(text, 5))).rejects.toThrow(HostUnreachable)
})

it('refuses items that do not match the schema', async () => {
  await expect(read(inPieces(`${lines}{"other":1}\n{"end":true}\n`, 9))).rejects.toThrow(HostRefused)
})
