/** The background work on copies: making them, restore drills, eviction of captures and sweeps. */
import { createTimers } from '../../../engine/index.ts'
import type { CaptureFile } from '../../hosts/index.ts'
import { deleteUnfinishedRestores } from '../captures/restore-store.ts'
import { checkCopies } from './check-copies.ts'
import { createCopier } from './copier.ts'
import type { CopyContext } from './copy-context.ts'
import { abandonCopiesOfOtherOwners } from './copy-store.ts'
import { drillNext } from './drill-copies.ts'
import { evictCaptures } from './evict-captures.ts'
import { listFiles } from './list-files.ts'
import { removeCopies } from './remove-copies.ts'
import { captureHost, ensureCapture } from './restore-copy.ts'
import { sweepStrayObjects } from './stray-objects.ts'
import { sweepCopies, sweepZeroRetention } from './sweep-copies.ts'

/** Poll interval for copies that no notice announces, such as retries. */
const pollEveryMs = 30_000
const evictEveryMs = 30_000

export type Copies = {
  /** Ensures that the host keeps the Snapshot's capture. See `ensureCapture` in restore-copy.ts. */
  ensureCapture(snapshotId: string, hostId: string, isMissing?: boolean): Promise<void>
  /** Returns a connected host that keeps the capture, after a restore if none does. Throws {@link NoCopy}. */
  captureHost(snapshot: { id: string; hostId: string | null }): Promise<string>
  /** Lists the regular files of a completed Snapshot, in batches. */
  listFiles(snapshot: { id: string; hostId: string | null }): Promise<AsyncIterable<CaptureFile[]>>
  /** Removes all objects of a deleted organization. Returns how many Snapshots must be deleted first; 0 if done. */
  removeAll(organizationId: string): Promise<number>
  /** Call when a Snapshot was completed. It is copied once it reaches its minimum age. */
  noticeSnapshot(): void
  /** Call when a host's bulk link connects. Its Snapshots that are due are copied. */
  noticeHost(): void
  /** Call when Snapshots under zero data retention were deleted. Their objects are removed at once. */
  noticeWiped(): void
  /**
   * Starts the timers. The instance lock makes this the only process on its database, so copies and restores that an
   * earlier process left unfinished are abandoned at once instead of when their leases expire.
   */
  start(): Promise<void>
  stop(): Promise<void>
}

export function createCopies(context: CopyContext): Copies {
  const { clock, logger, settings } = context
  const wipe = (): void => {
    sweepZeroRetention(context).then(
      (swept) => {
        if (swept.copies + swept.chunks > 0) logger.info(swept, 'removed copies under zero data retention')
      },
      (error: unknown) =>
        logger.error(
          { err: error },
          'cannot remove copies under zero data retention now; retrying at the next sweep',
        ),
    )
  }
  const copier = createCopier(context, wipe)
  const copySoon = (): void => {
    copier.run().catch((error: unknown) => logger.error({ err: error }, 'copier failed'))
  }
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      {
        name: 'copies',
        everyMs: Math.min(pollEveryMs, settings.ageMs + 1_000, settings.retryMs + 100),
        run: copier.run,
      },
      {
        name: 'eviction',
        everyMs: evictEveryMs,
        run: async () => {
          const evicted = await evictCaptures(context)
          if (evicted > 0) logger.info({ evicted }, 'captures evicted')
        },
      },
      {
        name: 'sweep',
        everyMs: settings.sweepEveryMs,
        run: async () => {
          await sweepZeroRetention(context)
          const swept = await sweepCopies(context)
          logger[swept.copies + swept.chunks > 0 ? 'info' : 'debug'](swept, 'copies swept')
        },
      },
      {
        name: 'stray objects',
        everyMs: settings.straysEveryMs,
        run: async () => {
          const removed = await sweepStrayObjects(context)
          if (removed > 0) logger.warn({ removed }, 'removed stray objects of ended copies')
        },
      },
      { name: 'copies after a restore', everyMs: pollEveryMs, run: () => checkCopies(context) },
      {
        name: 'restore drill',
        everyMs: settings.drillEveryMs,
        run: async () => void (await drillNext(context)),
      },
    ],
  })
  return {
    ensureCapture: (snapshotId, hostId, isMissing) => ensureCapture(context, snapshotId, hostId, isMissing),
    captureHost: (snapshot) => captureHost(context, snapshot),
    listFiles: (snapshot) => listFiles(context, snapshot),
    removeAll: (organizationId) => removeCopies(context, organizationId),
    noticeSnapshot: () => void clock.after(settings.ageMs + 50, copySoon),
    noticeHost: copySoon,
    noticeWiped: wipe,
    start: async () => {
      await abandonCopiesOfOtherOwners(context.db, context.owner)
      await deleteUnfinishedRestores(context.db)
      timers.start()
    },
    stop: async () => {
      timers.stop()
      await copier.stop()
    },
  }
}
