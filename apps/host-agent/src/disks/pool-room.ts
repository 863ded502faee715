/** How much of the pool of disks is left, and how much of that must stay free. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PoolRoom } from '../docks/seams.ts'
import { openPoolAllotment, type PoolAllotment } from './pool-allotment.ts'

const gibibyte = 2 ** 30

/**
 * Answers a function that reads it now; the pool must be mounted. A full pool loses data of Docks that did nothing
 * wrong: what they wrote is in memory and finds no place. The reserve, max(2 GiB, 5 %) unless given, is what is still
 * written after every Dock was stopped from writing more.
 */
export const createPoolRoom = (poolDir: string, reserveBytes?: number): (() => PoolRoom) => {
  let readAllotment: (() => PoolAllotment) | undefined
  return () => {
    readAllotment ??= openPoolAllotment(poolDir)
    const pool = statfsSync(poolDir)
    const below = statfsSync(dirname(poolDir))
    // Last: what is booked in between is then missed for a moment; twice counted, it would freeze Docks for nothing.
    const { unbookedBytes } = readAllotment()
    const totalBytes = pool.blocks * pool.bsize
    return {
      totalBytes,
      // The pool's file is sparse: what is free in it can be used only as far as the disk below has room.
      freeBytes: Math.max(0, Math.min(pool.bavail * pool.bsize - unbookedBytes, below.bavail * below.bsize)),
      reserveBytes: reserveBytes ?? Math.max(2 * gibibyte, totalBytes * 0.05),
    }
  }
}
