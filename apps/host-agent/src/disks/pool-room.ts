/** How much of the pool of disks is left, and how much of that must stay free. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PoolRoom } from '../docks/seams.ts'

const gibibyte = 2 ** 30

/**
 * Reads it now. A full pool loses data of Docks that did nothing wrong: what they wrote is in memory and finds no place.
 * The reserve, max(2 GiB, 5 %) unless given, is what is still written after every Dock was stopped from writing more.
 */
export const readPoolRoom = (poolDir: string, reserveBytes?: number): PoolRoom => {
  const pool = statfsSync(poolDir)
  const below = statfsSync(dirname(poolDir))
  const totalBytes = pool.blocks * pool.bsize
  return {
    totalBytes,
    // The pool's file is sparse: what is free in it can be used only as far as the disk below has room.
    freeBytes: Math.min(pool.bavail * pool.bsize, below.bavail * below.bsize),
    reserveBytes: reserveBytes ?? Math.max(2 * gibibyte, totalBytes * 0.05),
  }
}
