/** The work on copies that goes on by itself: making them, proving them, giving up captures on crowded hosts, sweeping. */
import { createTimers } from '../../engine/index.ts'
import type { CaptureFile } from '../hosts/index.ts'
import { checkCopies } from './check-copies.ts'
import { createCopier } from './copier.ts'
import type { CopyContext } from './copy-context.ts'
import { endCopiesOfOthers } from './copy-store.ts'
import { drillNext } from './drill-copies.ts'
import { evictCaptures } from './evict-captures.ts'
import { listFiles } from './list-files.ts'
import { removeCopies } from './remove-copies.ts'
import { captureHost, ensureCapture } from './restore-copy.ts'
import { forgetRestoresUnderWay } from './restore-store.ts'
import { sweepStrayObjects } from './stray-objects.ts'
import { sweepCopies, sweepRetained } from './sweep-copies.ts'

/** For what no notice told of: a failure whose time has come. */
const lookEveryMs = 30_000
const evictEveryMs = 30_000

export type Copies = {
  /** Sees to it that the host keeps the Snapshot's capture. */
  ensureCapture(snapshotId: string, hostId: string, isMissing?: boolean): Promise<void>
  /** A linked host that keeps the capture, made to where none does. Throws {@link NoCopy}. */
  captureHost(snapshot: { id: string; hostId: string | null }): Promise<string>
  /** Regular files of a completed Snapshot, batch by batch. */
  listFiles(snapshot: { id: string; hostId: string | null }): Promise<AsyncIterable<CaptureFile[]>>
  /** Removes all objects of a deleted organization; answers how many Snapshots still stand in the way. */
  removeAll(organizationId: string): Promise<number>
  /** A Snapshot was completed: it is copied when it has reached its age. */
  noticeSnapshot(): void
  /** A host's link for bytes is there: what is due of its Snapshots is copied. */
  noticeHost(): void
  /** Snapshots of an organization that keeps nothing are gone: so are their objects, at once. */
  noticeWiped(): void
  /**
   * This process is the only one on its database (the instance's lock), so what an earlier one was copying is due now,
   * not when its leases run out.
   */
  start(): Promise<void>
  stop(): Promise<void>
}

export function createCopies(context: CopyContext): Copies {
  const { clock, logger, settings } = context
  const wipe = (): void => {
    sweepRetained(context).then(
      (swept) => {
        if (swept.copies + swept.chunks > 0) logger.info(swept, 'copies wiped')
      },
      (error: unknown) => logger.error({ err: error }, 'copies to be wiped are left to the next sweep'),
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
        everyMs: Math.min(lookEveryMs, settings.ageMs + 1_000, settings.retryMs + 100),
        run: copier.run,
      },
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
        everyMs: settings.sweepEveryMs,
        run: async () => {
          await sweepRetained(context)
          const swept = await sweepCopies(context)
          logger[swept.copies + swept.chunks > 0 ? 'info' : 'debug'](swept, 'copies swept')
        },
      },
      {
        name: 'stray objects',
        everyMs: settings.straysEveryMs,
        run: async () => {
          const removed = await sweepStrayObjects(context)
          if (removed > 0) logger.warn({ removed }, 'objects of ended copies removed')
        },
      },
      { name: 'copies after a restore', everyMs: lookEveryMs, run: () => checkCopies(context) },
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
      await endCopiesOfOthers(context.db, context.owner)
      await forgetRestoresUnderWay(context.db)
      timers.start()
    },
    stop: async () => {
      timers.stop()
      await copier.stop()
    },
  }
}
