/** How btrfs has allotted the pool's space, which its kernel tells in a folder of small files in /sys. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMountTableNow } from './mount-table.ts'

const filesystems = '/sys/fs/btrfs'

export type PoolAllotment = {
  /** Data that is written or about to be, and that statfs still tells as free: it is booked only with a commit. */
  unbookedBytes: number
  /** What metadata can still take: its own chunks, less what the kernel keeps for itself, and those it could be given. */
  metadataFreeBytes: number
}

/** The folder of the filesystem that is mounted at `poolDir`. */
const allotmentFolder = (poolDir: string): string => {
  const device = readMountTableNow().get(poolDir)?.device
  const holds = (id: string): boolean => {
    try {
      return readdirSync(join(filesystems, id, 'devices')).includes(device ?? '')
    } catch {
      // Not every folder there is a filesystem, and one may go away meanwhile.
      return false
    }
  }
  const id = readdirSync(filesystems).find(holds)
  if (!id) throw new Error(`the kernel does not tell how the pool at ${poolDir} is allotted`)
  return join(filesystems, id, 'allocation')
}

/**
 * Answers a function that reads it now of the pool, which has `totalBytes`. The pool must be mounted, and is looked for
 * only once.
 */
export const openPoolAllotment = (poolDir: string): ((totalBytes: number) => PoolAllotment) => {
  const folder = allotmentFolder(poolDir)
  const read = (name: string): number => Number(readFileSync(join(folder, name), 'utf8'))
  return (totalBytes) => {
    const [inMetadata, onDisk] = [read('metadata/total_bytes'), read('metadata/disk_total')]
    const unallotted = totalBytes - onDisk - read('data/disk_total') - read('system/disk_total')
    const taken = read('metadata/bytes_used') + read('metadata/bytes_reserved') + read('global_rsv_size')
    return {
      unbookedBytes: read('data/bytes_reserved') + read('data/bytes_may_use'),
      // Metadata is usually kept twice on the disk.
      metadataFreeBytes: inMetadata - taken + unallotted * (inMetadata / onDisk),
    }
  }
}
