/**
 * The stream of sealed chunks between host and control plane. Each frame holds the chunk's position on the disk (4
 * bytes), its name (64 hexadecimal digits), its length (4 bytes) and its bytes. An end frame marks the end, so that a
 * truncated stream is detected.
 */
import { ChunkDamaged, chunkBytes } from './chunk.ts'

export type SealedChunk = { index: number; name: string; bytes: Buffer }

const nameBytes = 64
const headBytes = 4 + nameBytes + 4
const endIndex = 0xffff_ffff
/** Incompressible chunks grow slightly when compressed and sealed. */
const sealedBytesMax = chunkBytes + 64 * 1024

const head = (index: number, name: string, length: number): Buffer => {
  const bytes = Buffer.alloc(headBytes)
  bytes.writeUInt32BE(index, 0)
  bytes.write(name, 4, nameBytes, 'latin1')
  bytes.writeUInt32BE(length, 4 + nameBytes)
  return bytes
}

/** Returns the bytes of a frame. */
export function encodeChunk({ index, name, bytes }: SealedChunk): Buffer[] {
  return [head(index, name, bytes.length), bytes]
}

/** Returns the end frame. */
export function encodeEnd(): Buffer {
  return head(endIndex, ''.padEnd(nameBytes, '0'), 0)
}

/** Decodes a stream of frames. Throws {@link ChunkDamaged} if the stream is malformed or ends without an end frame. */
export async function* decodeChunks(stream: AsyncIterable<Uint8Array>): AsyncGenerator<SealedChunk> {
  const parts: Buffer[] = []
  let held = 0
  const take = (count: number): Buffer => {
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    parts.length = 0
    if (all.length > count) parts.push(all.subarray(count))
    held = all.length - count
    return all.subarray(0, count)
  }
  let next: { index: number; name: string; length: number } | undefined
  for await (const bytes of stream) {
    parts.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    held += bytes.byteLength
    for (;;) {
      if (!next) {
        if (held < headBytes) break
        const text = take(headBytes)
        next = {
          index: text.readUInt32BE(0),
          name: text.toString('latin1', 4, 4 + nameBytes),
          length: text.readUInt32BE(4 + nameBytes),
        }
        if (next.index === endIndex) return
        if (next.length > sealedBytesMax || !/^[0-9a-f]+$/.test(next.name)) {
          throw new ChunkDamaged('the stream of chunks is malformed')
        }
      }
      if (held < next.length) break
      yield { index: next.index, name: next.name, bytes: take(next.length) }
      next = undefined
    }
  }
  throw new ChunkDamaged('the stream of chunks is truncated')
}
