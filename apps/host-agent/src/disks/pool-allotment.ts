/** Reads from /sys how btrfs has allocated the pool's space. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readMountTableNow } from './mount-table.ts'

const filesystems = '/sys/fs/btrfs'
/** The kernel reports device sizes in sectors of this size, whatever the device's own sector size is. */
const sectorBytes = 512

export type PoolAllotment = {
  /** Data that is written or soon will be, but that statfs still counts as free until the next commit. */
  unbookedBytes: number
  /** Space for metadata: free in its own chunks, without the kernel's reserve, plus space that is not allocated yet. */
  metadataFreeBytes: number
}

/** Returns the /sys folder of the filesystem that is mounted at `poolDir`. */
const filesystemFolder = (poolDir: string): string => {
  const source = readMountTableNow().get(poolDir)?.device ?? ''
  const holds = (id: string): boolean => {
    try {
      // An LVM volume is mounted under another name than the kernel's.
      const device = basename(realpathSync(join('/dev', source)))
      return readdirSync(join(filesystems, id, 'devices')).includes(device)
    } catch {
      // Not every folder here is a filesystem, and a filesystem may be unmounted meanwhile.
      return false
    }
  }
  const id = readdirSync(filesystems).find(holds)
  if (!id) throw new Error(`cannot find the btrfs filesystem of the pool at ${poolDir} in ${filesystems}`)
  return join(filesystems, id)
}

/** Returns a function that reads the present values. The pool must be mounted when this is called. */
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
      // btrfs usually keeps two copies of metadata, so unallocated space counts only in part.
      metadataFreeBytes: inMetadata - taken + unallotted * (inMetadata / onDisk),
    }
  }
}
