/** Reads from /sys how btrfs has allocated the pool's space. */
import { closeSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs'
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

export type OpenPoolAllotment = {
  /** Returns the present values. Throws once the pool was unmounted, also if it is mounted again. */
  read(): PoolAllotment
  close(): void
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

const allocationFiles = [
  'metadata/total_bytes',
  'metadata/disk_total',
  'metadata/bytes_used',
  'metadata/bytes_reserved',
  'data/disk_total',
  'data/bytes_reserved',
  'data/bytes_may_use',
  'system/disk_total',
  'global_rsv_size',
] as const

/**
 * Opens the kernel's files, which then stay open: the pool guard reads them twenty times a second, and opening a file takes
 * longer than reading it. The pool must be mounted.
 */
export function openPoolAllotment(poolDir: string): OpenPoolAllotment {
  const folder = filesystemFolder(poolDir)
  const descriptors: number[] = []
  const close = (): void => {
    for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
  }
  const text = Buffer.alloc(32)
  /** Returns a function that reads the file's number. The kernel prints it again for each read from the beginning. */
  const open = (path: string): (() => number) => {
    const descriptor = openSync(join(folder, path), 'r')
    descriptors.push(descriptor)
    return () => Number(text.toString('latin1', 0, readSync(descriptor, text, 0, text.length, 0)))
  }
  try {
    const deviceSizes = readdirSync(join(folder, 'devices')).map((device) => open(`devices/${device}/size`))
    const allocation = new Map(allocationFiles.map((name) => [name, open(`allocation/${name}`)]))
    const read = (name: (typeof allocationFiles)[number]): number => allocation.get(name)!()
    return {
      close,
      read: () => {
        const rawBytes = deviceSizes.reduce((sum, size) => sum + sectorBytes * size(), 0)
        const [inMetadata, onDisk] = [read('metadata/total_bytes'), read('metadata/disk_total')]
        const unallotted = rawBytes - onDisk - read('data/disk_total') - read('system/disk_total')
        const taken = read('metadata/bytes_used') + read('metadata/bytes_reserved') + read('global_rsv_size')
        return {
          unbookedBytes: read('data/bytes_reserved') + read('data/bytes_may_use'),
          // btrfs usually keeps two copies of metadata, so unallocated space counts only in part.
          metadataFreeBytes: inMetadata - taken + unallotted * (inMetadata / onDisk),
        }
      },
    }
  } catch (error) {
    close()
    throw error
  }
}
