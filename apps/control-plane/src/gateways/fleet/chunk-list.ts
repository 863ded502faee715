/** Collects the list of a disk's chunks that a host sends. */
import { limits } from '@dock/contract'
import { chunkBytes } from '@dock/copy-format'
import type { NamedChunk, NamedLine } from '@dock/host-protocol'
import { diskBytesOf, HostRefused, type NamedDisk } from '../../modules/hosts/index.ts'

const diskBytesMax = diskBytesOf(limits.diskGiB.max)

const wrong = (): HostRefused => new HostRefused('failed', 'the list of chunks is not in the protocol')

/** A hostile host could send an endless list, so indexes must ascend and stay below the disk's size. */
export async function collectChunks(lines: AsyncIterable<NamedLine[]>): Promise<NamedDisk> {
  let diskBytes = 0
  const chunks: NamedChunk[] = []
  for await (const some of lines) {
    for (const line of some) {
      if ('diskBytes' in line) {
        if (diskBytes !== 0 || line.diskBytes > diskBytesMax) throw wrong()
        diskBytes = line.diskBytes
        continue
      }
      if (line.index <= (chunks.at(-1)?.index ?? -1) || line.index * chunkBytes >= diskBytes) throw wrong()
      chunks.push(line)
    }
  }
  return { diskBytes, chunks }
}
