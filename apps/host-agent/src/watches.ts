/** The agent's background work: the pool guard, freezing idle Docks, usage samples, the warm pool, changes of images. */
import { Emitter } from '@dock/foundation'
import type { DockParts } from './docks/dock-state.ts'
import type { Docks } from './docks/docks.ts'
import { watchIdle } from './freezing/watch-idle.ts'
import { watchPoolRoom } from './freezing/watch-pool-room.ts'
import { readMemory } from './host-facts.ts'
import { watchImages } from './images/watch-images.ts'
import { sampleDocks } from './usage/sample-docks.ts'
import { WarmPool } from './warm-pool/warm-pool.ts'

/** Creates the watches without starting them. */
export function createWatches(
  parts: DockParts & { docks: Docks; warmPoolSize: number; onReadOnly: () => void },
) {
  const { disks, driver } = parts
  const imageChanges = new Emitter<void>()
  const poolRoom = watchPoolRoom(parts)
  const warmPool = new WarmPool({
    ...parts,
    imageChanges,
    // Without freezing, a waiting sandbox would cost more than it saves.
    size: driver.capabilities.freezing ? parts.warmPoolSize : 0,
    losses: parts.warmPoolLosses,
    room: () => disks.room(),
    memoryAvailable: () => {
      try {
        const { availableBytes, totalBytes } = readMemory()
        return availableBytes / totalBytes
      } catch {
        // Without a descriptor left, /proc cannot be read: the pool makes room.
        return 0
      }
    },
  })
  return {
    poolRoom,
    warmPool,
    imageChanges,
    /** Starts all watches. Returns a function that stops them. */
    start: (): (() => void) => {
      const ends = [
        poolRoom.start(),
        watchIdle(parts),
        sampleDocks(parts),
        warmPool.start(),
        watchImages({ ...parts, changes: imageChanges }),
        parts.docks.watchGone(),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}
