/** How btrfs has allotted the pool's space, which its kernel tells in a folder of small files in /sys. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readMountTableNow } from './mount-table.ts'

const filesystems = '/sys/fs/btrfs'
/** In which the kernel tells the size of any device. */
const sectorBytes = 512

export type PoolAllotment = {
  /** Data that is written or about to be, and that statfs still tells as free: it is booked only with a commit. */
  unbookedBytes: number
  /** What metadata can still take: its own chunks, less what the kernel keeps for itself, and those it could be given. */
  metadataFreeBytes: number
}

/** The kernel's folder of the filesystem that is mounted at `poolDir`. */
const filesystemFolder = (poolDir: string): string => {
  const source = readMountTableNow().get(poolDir)?.device ?? ''
  const holds = (id: string): boolean => {
    try {
      // A volume of LVM is mounted by another name than the kernel's.
      const device = basename(realpathSync(join('/dev', source)))
      return readdirSync(join(filesystems, id, 'devices')).includes(device)
    } catch {
      // Not every folder there is a filesystem, and one may go away meanwhile.
      return false
    }
  }
  const id = readdirSync(filesystems).find(holds)
  if (!id) throw new Error(`the kernel does not tell how the pool at ${poolDir} is allotted`)
  return join(filesystems, id)
}

/** Answers a function that reads it now. The pool must be mounted, and is looked for only once. */
export function openPoolAllotment(poolDir: string): () => PoolAllotment {
  const folder = filesystemFolder(poolDir)
  const number = (...path: string[]): number => Number(readFileSync(join(folder, ...path), 'utf8'))
  const read = (name: string): number => number('allocation', name)
  const devices = readdirSync(join(folder, 'devices'))
  return () => {
    const rawBytes = devices.reduce((sum, device) => sum + sectorBytes * number('devices', device, 'size'), 0)
    const [inMetadata, onDisk] = [read('metadata/total_bytes'), read('metadata/disk_total')]
    const unallotted = rawBytes - onDisk - read('data/disk_total') - read('system/disk_total')
    const taken = read('metadata/bytes_used') + read('metadata/bytes_reserved') + read('global_rsv_size')
    return {
      unbookedBytes: read('data/bytes_reserved') + read('data/bytes_may_use'),
      // Metadata is usually kept twice on the disk.
      metadataFreeBytes: inMetadata - taken + unallotted * (inMetadata / onDisk),
    }
  }
}
