/** How btrfs has allotted the pool's space, which its kernel tells in a folder of small files in /sys. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMountTableNow } from './mount-table.ts'

const filesystems = '/sys/fs/btrfs'

export type PoolAllotment = {
  /** Data that is written or about to be, and that statfs still tells as free: it is booked only with a commit. */
  unbookedBytes: number
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

/** Answers a function that reads it now. The pool must be mounted, and is looked for only once. */
export const openPoolAllotment = (poolDir: string): (() => PoolAllotment) => {
  const folder = allotmentFolder(poolDir)
  const read = (name: string): number => Number(readFileSync(join(folder, name), 'utf8'))
  return () => ({ unbookedBytes: read('data/bytes_reserved') + read('data/bytes_may_use') })
}
