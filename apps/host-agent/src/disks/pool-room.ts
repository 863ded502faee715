/** How much of the pool of disks is left, and how much of that must stay free. */
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PoolRoom } from '../docks/seams.ts'
import { openPoolAllotment, type PoolAllotment } from './pool-allotment.ts'

const gibibyte = 2 ** 30
/** Of metadata: what 256 MiB of data takes that is still written after a freeze, in pieces of 4 KiB. */
const metadataReserveBytes = 64 * 2 ** 20

/** What metadata lets be written of the pool's data: all of it, until its own reserve is near. */
const roomByMetadata = (metadataFreeBytes: number, reserveBytes: number): number =>
  metadataFreeBytes >= 2 * metadataReserveBytes
    ? Number.POSITIVE_INFINITY
    : Math.floor((metadataFreeBytes / metadataReserveBytes) * reserveBytes)

/**
 * Answers a function that reads it now; the pool must be mounted. A full pool loses data of Docks that did nothing
 * wrong: what they wrote is in memory and finds no place. The reserve, max(2 GiB, 5 %) unless given, is what is still
 * written after every Dock was stopped from writing more.
 */
export function createPoolRoom(poolDir: string, givenReserve?: number): () => PoolRoom {
  let readAllotment: (() => PoolAllotment) | undefined
  return () => {
    readAllotment ??= openPoolAllotment(poolDir)
    const pool = statfsSync(poolDir)
    const below = statfsSync(dirname(poolDir))
    const totalBytes = pool.blocks * pool.bsize
    const reserveBytes = givenReserve ?? Math.max(2 * gibibyte, totalBytes * 0.05)
    // Last: what is booked in between is then missed for a moment; twice counted, it would freeze Docks for nothing.
    const { unbookedBytes, metadataFreeBytes } = readAllotment()
    const free = [
      pool.bavail * pool.bsize - unbookedBytes,
      // The pool's file is sparse: what is free in it can be used only as far as the disk below has room.
      below.bavail * below.bsize,
      roomByMetadata(metadataFreeBytes, reserveBytes),
    ]
    return { totalBytes, freeBytes: Math.max(0, Math.min(...free)), reserveBytes }
  }
}
