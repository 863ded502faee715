/**
 * Marks of the disks that nobody needs, one empty file for each. They lie in the pool and not with the records of the
 * Docks, so that a lost or older copy of the records cannot make a disk look unneeded.
 */
import { mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from './clone-disk.ts'

export type DiskMarks = {
  /** Creates the folder if it is missing, and removes marks without a disk, which a crash left. */
  recover(hasDisk: (dockId: string) => Promise<boolean>): Promise<void>
  set(dockId: string): Promise<void>
  clear(dockId: string): Promise<void>
  /** On return the mark is gone from stable storage too. */
  clearDurably(dockId: string): Promise<void>
  has(dockId: string): Promise<boolean>
}

/** Keeps the marks in this folder. */
export function createDiskMarks(folder: string): DiskMarks {
  const pathOf = (dockId: string) => join(folder, dockId)
  const clear = (dockId: string) => rm(pathOf(dockId), { force: true })
  return {
    recover: async (hasDisk) => {
      await mkdir(folder, { recursive: true })
      for (const dockId of await readdir(folder)) if (!(await hasDisk(dockId))) await clear(dockId)
    },
    set: (dockId) => writeFile(pathOf(dockId), ''),
    clear,
    clearDurably: async (dockId) => {
      await clear(dockId)
      const handle = await open(folder, 'r')
      try {
        await handle.sync()
      } finally {
        await handle.close()
      }
    },
    has: (dockId) => exists(pathOf(dockId)),
  }
}
