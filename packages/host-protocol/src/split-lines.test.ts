import { expect, it, vi } from 'vitest'
import { LineTooLong, splitLines } from './split-lines.ts'

const text = 'one\nzwei é 😀\n\nlast\nrest without an end'
const inPieces = async function* (bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

it.each([1, 2, 5, 1_000])('yields whole lines from pieces of %i bytes', async (length) => {
  const lines = (await Array.fromAsync(splitLines(inPieces(Buffer.from(text), length), 100))).flat()
  expect(lines).toEqual(['one', 'zwei é 😀', '', 'last'])
})

it('accepts lines up to the limit and throws beyond it, even without a line break', async () => {
  const read = async (line: string) => Array.fromAsync(splitLines(inPieces(Buffer.from(line), 3), 10))
  expect((await read('0123456789\n')).flat()).toEqual(['0123456789'])
  await expect(read('0123456789x\n')).rejects.toThrow(LineTooLong)
  await expect(read('0123456789x')).rejects.toThrow(LineTooLong)
})

it('stops reading a line of a gigabyte at the limit', async () => {
  let sent = 0
  async function* endless(): AsyncGenerator<Buffer> {
    const piece = Buffer.alloc(64 * 1024, 'x')
    while (sent < 2 ** 30) {
      sent += piece.length
      yield piece
    }
  }
  await expect(Array.fromAsync(splitLines(endless(), 2 ** 20))).rejects.toThrow(LineTooLong)
  expect(sent).toBeLessThanOrEqual(2 ** 20 + 64 * 1024)
})

it('reads and copies each byte of a line that arrives in many pieces a fixed number of times', async () => {
  const bytes = 2 ** 20
  const line = Buffer.concat([Buffer.alloc(bytes, 'x'), Buffer.from('\n')])
  const searches = vi.spyOn(Buffer.prototype, 'indexOf')
  const copies = vi.spyOn(Buffer, 'concat')
  await Array.fromAsync(splitLines(inPieces(line, 64), 2 ** 26))
  const searched = searches.mock.contexts.reduce((sum, buffer) => sum + (buffer as Buffer).length, 0)
  const copied = copies.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
  vi.restoreAllMocks()
  expect(searched).toBeLessThanOrEqual(2 * bytes)
  expect(copied).toBeLessThanOrEqual(2 * bytes)
})
