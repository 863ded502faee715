/** Writes a durable copy back to a disk. Each chunk must match its name. */
import { ChunkDamaged, type CopyKeys, chunkBytes, decodeChunks, openChunk } from '@dock/copy-format'
import { faultPoint } from '@dock/foundation'
import type { FillingDisk } from '../write-new-disk.ts'

/**
 * Fills an empty, sparse `disk` of `diskBytes` from a stream of frames. Throws {@link ChunkDamaged} on the first invalid
 * chunk. Returns position and name of each chunk.
 */
export async function fillDisk(
  disk: FillingDisk,
  diskBytes: number,
  keys: CopyKeys,
  frames: AsyncIterable<Uint8Array>,
): Promise<[index: number, name: string][]> {
  const filled: [number, string][] = []
  for await (const { index, name, bytes } of decodeChunks(frames)) {
    const content = await openChunk(keys, name, bytes)
    const at = index * chunkBytes
    if (at + content.length > diskBytes)
      throw new ChunkDamaged(`chunk ${index} lies beyond the end of the disk`)
    faultPoint('disk:restore-write')
    await disk.write(content, at)
    filled.push([index, name])
  }
  return filled
}
