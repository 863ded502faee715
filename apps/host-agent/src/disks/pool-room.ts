/** How much space of the disk pool is free, and how much must stay free. */
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PoolRoom } from './pool.ts'
import { type OpenPoolAllotment, openPoolAllotment, type PoolAllotment } from './pool-allotment.ts'
import { poolFile } from './prepare-pool.ts'
import { isReadOnly } from './read-only-pool.ts'

const gibibyte = 2 ** 30
/** Metadata needed for 256 MiB of data in 4 KiB pieces, which may still be written after a freeze. */
const metadataReserveBytes = 64 * 2 ** 20

/** Free space of the disk below with which a read-only pool is mounted again. */
const mountReserveBytes = gibibyte

/** Returns how much data the free metadata space allows: no limit until the metadata reserve is near. */
const roomByMetadata = (metadataFreeBytes: number, reserveBytes: number): number =>
  metadataFreeBytes >= 2 * metadataReserveBytes
    ? Number.POSITIVE_INFINITY
    : Math.floor((metadataFreeBytes / metadataReserveBytes) * reserveBytes)

/**
 * Returns a function that reads the pool's present free space. The pool must be mounted. When a pool is full, dirty data of
 * Docks cannot be written and is lost. The reserve (default max(2 GiB, 5 %)) is for data that is still written after every
 * Dock was frozen.
 */
export function createPoolRoom(poolDir: string, givenReserve?: number): () => PoolRoom {
  let allotment: OpenPoolAllotment | undefined
  const readAllotment = (): PoolAllotment => {
    try {
      if (allotment) return allotment.read()
    } catch {
      // The pool was unmounted or mounted again. Never read closed descriptors: their numbers may name other files.
      allotment?.close()
      allotment = undefined
    }
    allotment = openPoolAllotment(poolDir)
    return allotment.read()
  }
  return () => {
    const pool = statfsSync(poolDir)
    const below = statfsSync(dirname(poolDir))
    const totalBytes = pool.blocks * pool.bsize
    const reserveBytes = givenReserve ?? Math.max(2 * gibibyte, totalBytes * 0.05)
    if (isReadOnly(poolDir)) {
      // Nothing can be removed from it, so it needs only what mounting it again takes. The agent mounts no other device.
      const canBeMounted = existsSync(poolFile(dirname(poolDir))) && !isReadOnly(dirname(poolDir))
      const freeBytes = canBeMounted ? below.bavail * below.bsize : 0
      return { totalBytes, freeBytes, reserveBytes: Math.min(reserveBytes, mountReserveBytes) }
    }
    // Read this last: data committed in between is then missed briefly. Counting it twice would freeze Docks needlessly.
    const { unbookedBytes, metadataFreeBytes } = readAllotment()
    const free = [
      pool.bavail * pool.bsize - unbookedBytes,
      // The pool's file is sparse, so its free space is limited by the free space of the disk that contains it.
      below.bavail * below.bsize,
      roomByMetadata(metadataFreeBytes, reserveBytes),
    ]
    return { totalBytes, freeBytes: Math.max(0, Math.min(...free)), reserveBytes }
  }
}
