/** Writes a durable copy back to a disk, each chunk proven to be what its name says. */
import { ChunkDamaged, type CopyKeys, chunkBytes, decodeChunks, openChunk } from '@dock/copy-format'
import { faultPoint } from '@dock/foundation'
import type { FillingDisk } from '../disks/write-new-disk.ts'

/**
 * Fills an empty, sparse `disk` of `diskBytes` from a stream of frames. Throws {@link ChunkDamaged} on the first chunk
 * that is not what it should be. Answers which chunk came where.
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
    if (at + content.length > diskBytes) throw new ChunkDamaged(`chunk ${index} lies behind the disk's end`)
    faultPoint('disk:restore-write')
    await disk.write(content, at)
    filled.push([index, name])
  }
  return filled
}
