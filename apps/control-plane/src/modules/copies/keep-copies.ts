/** The work on copies that goes on by itself: making them, giving up captures on crowded hosts, sweeping. */
import { createTimers } from '../../engine/index.ts'
import { createCopier } from './copier.ts'
import type { CopyContext } from './copy-context.ts'
import { evictCaptures } from './evict-captures.ts'
import { removeCopies } from './remove-copies.ts'
import { captureHost, ensureCapture } from './restore-copy.ts'
import { sweepCopies, sweepStrayObjects } from './sweep-copies.ts'

const lookEveryMs = 10_000
const evictEveryMs = 30_000
const sweepEveryMs = 600_000
const straysEveryMs = 86_400_000

export type Copies = {
  /** Sees to it that the host keeps the Snapshot's capture. */
  ensureCapture(snapshotId: string, hostId: string): Promise<void>
  /** A linked host that keeps the capture, made to where none does. Throws {@link NoCopy}. */
  captureHost(snapshot: { id: string; hostId: string | null }): Promise<string>
  /** Removes all objects of a deleted organization; answers how many Snapshots still stand in the way. */
  removeAll(organizationId: string): Promise<number>
  start(): void
  stop(): Promise<void>
}

export const createCopies = (context: CopyContext): Copies => {
  const { clock, logger } = context
  const copier = createCopier(context)
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'copies', everyMs: lookEveryMs, run: copier.run },
      {
        name: 'eviction',
        everyMs: evictEveryMs,
        run: async () => {
          const evicted = await evictCaptures(context)
          if (evicted > 0) logger.info({ evicted }, 'captures given up for room')
        },
      },
      {
        name: 'sweep',
        everyMs: sweepEveryMs,
        run: async () => {
          const swept = await sweepCopies(context)
          if (swept.copies + swept.chunks > 0) logger.info(swept, 'copies swept')
        },
      },
      {
        name: 'stray objects',
        everyMs: straysEveryMs,
        run: async () => {
          const removed = await sweepStrayObjects(context)
          if (removed > 0) logger.warn({ removed }, 'objects without a row removed')
        },
      },
    ],
  })
  return {
    ensureCapture: (snapshotId, hostId) => ensureCapture(context, snapshotId, hostId),
    captureHost: (snapshot) => captureHost(context, snapshot),
    removeAll: (organizationId) => removeCopies(context, organizationId),
    start: timers.start,
    stop: async () => {
      timers.stop()
      await copier.stop()
    },
  }
}
