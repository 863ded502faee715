import { expect, it } from 'vitest'
import { LineTooLong, splitLines } from './split-lines.ts'

const text = 'one\nzwei é 😀\n\nlast\nrest without an end'
const inPieces = async function* (bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

it.each([1, 2, 5, 1_000])('yields whole lines of pieces of %i bytes', async (length) => {
  const lines = (await Array.fromAsync(splitLines(inPieces(Buffer.from(text), length), 100))).flat()
  expect(lines).toEqual(['one', 'zwei é 😀', '', 'last'])
})

it('takes lines up to the bound, and none beyond it, whether it ends or not', async () => {
  const read = async (line: string) => Array.fromAsync(splitLines(inPieces(Buffer.from(line), 3), 10))
  expect((await read('0123456789\n')).flat()).toEqual(['0123456789'])
  await expect(read('0123456789x\n')).rejects.toThrow(LineTooLong)
  await expect(read('0123456789x')).rejects.toThrow(LineTooLong)
})

it('stops reading a line of a gigabyte at the bound', async () => {
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

it('takes time in proportion to a line that comes in many pieces', async () => {
  const timeOf = async (bytes: number): Promise<number> => {
    const line = Buffer.concat([Buffer.alloc(bytes, 'x'), Buffer.from('\n')])
    const before = performance.now()
    await Array.fromAsync(splitLines(inPieces(line, 64), 2 ** 26))
    return performance.now() - before
  }
  await timeOf(2 ** 18)
  const [small, large] = [await timeOf(2 ** 18), await timeOf(2 ** 22)]
  // Quadratic it would be 256 times.
  expect(large / small).toBeLessThan(64)
})
