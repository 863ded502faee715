/** What goes on in an agent beside its commands: the pool guard, idle Docks, samples, the warm pool. */
import type { DockParts } from './docks/dock-state.ts'
import type { Docks } from './docks/docks.ts'
import { watchIdle } from './freezing/watch-idle.ts'
import { watchPoolRoom } from './freezing/watch-pool-room.ts'
import { readMemory } from './host-facts.ts'
import { WarmPool } from './pool/warm-pool.ts'
import { sampleDocks } from './usage/sample-docks.ts'

/** Made, but not begun. */
export function createWatches(parts: DockParts & { docks: Docks; warmPoolSize: number }) {
  const { disks, driver } = parts
  const poolRoom = watchPoolRoom(parts)
  const warmPool = new WarmPool({
    ...parts,
    // Without the means to freeze one, a sandbox that waits would cost more than it saves.
    size: driver.freeze && driver.thaw ? parts.warmPoolSize : 0,
    losses: parts.poolLosses,
    room: () => disks.room(),
    memoryAvailable: () => {
      const { availableBytes, totalBytes } = readMemory()
      return availableBytes / totalBytes
    },
  })
  return {
    poolRoom,
    warmPool,
    /** The answer ends all of it. */
    start: (): (() => void) => {
      const ends = [
        poolRoom.start(),
        watchIdle(parts),
        sampleDocks(parts),
        warmPool.start(),
        parts.docks.watchEnded(),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}
