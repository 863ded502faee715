import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { ChunkDamaged, decodeChunks, encodeChunk, encodeEnd, type SealedChunk } from './index.ts'

const chunks: SealedChunk[] = [0, 1, 70_000, 300_000].map((size, index) => ({
  index: index * 3,
  name: randomBytes(32).toString('hex'),
  bytes: randomBytes(size),
}))
const whole = Buffer.concat([...chunks.flatMap(encodeChunk), encodeEnd()])

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const read = async (stream: AsyncIterable<Buffer>): Promise<SealedChunk[]> => {
  const found: SealedChunk[] = []
  for await (const chunk of decodeChunks(stream)) found.push({ ...chunk, bytes: Buffer.from(chunk.bytes) })
  return found
}

it('decodes chunks regardless of how the stream is split', async () => {
  for (const size of [7, 1000, 65_536, whole.length]) {
    expect(await read(inPieces(whole, size))).toEqual(chunks)
  }
})

it('refuses a truncated stream and a stream of other data', async () => {
  await expect(read(inPieces(whole.subarray(0, -72), 1000))).rejects.toThrow(ChunkDamaged)
  await expect(read(inPieces(whole.subarray(0, 5000), 1000))).rejects.toThrow(ChunkDamaged)
  await expect(read(inPieces(Buffer.alloc(500, 'x'), 100))).rejects.toThrow(ChunkDamaged)
})
