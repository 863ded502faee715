/** The agent's background work: the pool guard, freezing idle Docks, usage samples, the warm pool, changes of images. */
import { Emitter } from '@dock/foundation'
import type { Docks } from './docks/docks.ts'
import { WarmPool } from './docks/warm-pool/warm-pool.ts'
import { readMemoryAvailable } from './memory-available.ts'
import type { BlankPool } from './sandboxes/blank-pool.ts'
import type { DockParts } from './sandboxes/dock-state.ts'
import { sampleDocks } from './watches/sample-docks.ts'
import { watchIdle } from './watches/watch-idle.ts'
import { watchImages } from './watches/watch-images.ts'
import { watchPoolRoom } from './watches/watch-pool-room.ts'

/** Creates the watches without starting them. */
export function createWatches(
  parts: DockParts & { docks: Docks; blankPool: BlankPool; warmPoolSize: number; onReadOnly: () => void },
) {
  const { blankPool, disks, driver } = parts
  const imageChanges = new Emitter<void>()
  const poolRoom = watchPoolRoom(parts)
  const warmPool = new WarmPool({
    ...parts,
    imageChanges,
    // Without freezing, a waiting sandbox would cost more than it saves.
    size: driver.capabilities.freezing ? parts.warmPoolSize : 0,
    losses: parts.warmPoolLosses,
    room: () => disks.room(),
    memoryAvailable: readMemoryAvailable,
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
        blankPool.start(),
        watchImages({ ...parts, changes: imageChanges }),
        parts.docks.watchGone(),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}
