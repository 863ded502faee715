/**
 * Copies completed Snapshots to the object store, one at a time. A Snapshot is copied only once it has reached a minimum
 * age: a Dock that is resumed or deleted right after its stop needs no copy, and user requests take precedence.
 *
 * A failed copy is retried with exponential backoff. If the store is full, or several copies in a row fail, all copies
 * pause. After the pause, other Snapshots are tried before the failed ones, since a smaller one may fit.
 */
import { StoreFull } from '../../object-store/index.ts'
import type { CopyContext } from './copy-context.ts'
import { CopyLost, type DueSnapshot, findNextDueSnapshot, findOldestUncopiedAt } from './copy-store.ts'
import { takeCopy } from './take-copy.ts'

const retryMaxMs = 3_600_000
/** Longest pause of all copies after consecutive failures. */
const pauseMaxMs = 600_000
/** After this many consecutive failures the cause is unlikely to be a single Snapshot, so all copies pause. */
const failuresBeforePause = 3

export type Copier = {
  /** Copies all Snapshots that are due. A concurrent call joins the one that runs. */
  run(): Promise<void>
  /** Starts no further copy. Resolves when the current one has ended. */
  stop(): Promise<void>
}

/** `onLost` is called if a copy is abandoned, for example because its Snapshot is gone. A sweep then removes its objects. */
export function createCopier(context: CopyContext, onLost: () => void = () => undefined): Copier {
  const { db, clock, gateway, logger, settings, metrics } = context
  const failures = new Map<string, { tries: number; until: number }>()
  let inARow = 0
  let pausedUntil = 0
  let running: Promise<void> | undefined
  let stopped = false

  const failed = (snapshot: DueSnapshot, error: unknown): void => {
    const tries = (failures.get(snapshot.id)?.tries ?? 0) + 1
    // A copy that did not fit waits longer than the pause of all copies, so that others are tried first.
    const doublings = error instanceof StoreFull ? tries : tries - 1
    const waitMs = Math.min(settings.retryMs * 2 ** doublings, retryMaxMs)
    failures.set(snapshot.id, { tries, until: clock.now().getTime() + waitMs })
    if (error instanceof CopyLost) {
      logger.info(
        { snapshotId: snapshot.id },
        'copy abandoned: its Snapshot or one of its chunks is gone, or another process has the lease',
      )
      onLost()
      return
    }
    logger.error({ err: error, snapshotId: snapshot.id, tries }, 'copy failed; retrying')
    pauseAfter(error)
  }

  const pauseAfter = (error: unknown): void => {
    inARow += 1
    const isFull = error instanceof StoreFull
    metrics?.recordStoreFull(isFull)
    if (!isFull && inARow < failuresBeforePause) return
    const waitMs = Math.min(settings.retryMs * 2 ** Math.min(inARow - 1, 20), pauseMaxMs)
    pausedUntil = clock.now().getTime() + waitMs
    logger.error({ err: error, waitMs }, isFull ? 'the object store is full; copies pause' : 'copies pause')
  }

  const succeeded = (snapshot: DueSnapshot): void => {
    failures.delete(snapshot.id)
    inARow = 0
    metrics?.recordStoreFull(false)
  }

  /** Drops old failures whose Snapshots were not retried: they were deleted, or another process copied them. */
  const forgetOld = (now: number): void => {
    for (const [id, { until }] of failures) if (until < now - retryMaxMs) failures.delete(id)
  }

  const copyOne = async (snapshot: DueSnapshot): Promise<void> => {
    const startedAt = performance.now()
    try {
      const report = await takeCopy(context, snapshot)
      succeeded(snapshot)
      const ms = Math.round(performance.now() - startedAt)
      if (report) logger.info({ snapshotId: snapshot.id, ...report, ms }, 'Snapshot copied')
    } catch (error) {
      failed(snapshot, error)
    }
  }

  /** Returns true if the store accepts objects. Otherwise pauses all copies, so that no host reads a disk in vain. */
  const hasRoom = async (): Promise<boolean> => {
    try {
      await context.store.requireRoom()
      return true
    } catch (error) {
      pauseAfter(error)
      return false
    }
  }

  const copyDue = async (): Promise<void> => {
    for (;;) {
      const now = clock.now()
      forgetOld(now.getTime())
      if (now.getTime() < pausedUntil) return
      const except = [...failures].filter(([, { until }]) => until > now.getTime()).map(([id]) => id)
      // Query one at a time: Snapshots later in a list could be deleted while earlier ones are copied.
      const snapshot = await findNextDueSnapshot(db, {
        hosts: gateway.hostsWithBulkLink(),
        now,
        bornBefore: new Date(now.getTime() - settings.ageMs),
        except,
      })
      if (!snapshot || stopped || !(await hasRoom())) return
      await copyOne(snapshot)
    }
  }

  const reportBehind = async (): Promise<void> => {
    const since = await findOldestUncopiedAt(db)
    metrics?.recordDelay(since ? (clock.now().getTime() - since.getTime()) / 1000 : 0)
  }

  const run = (): Promise<void> => {
    if (stopped) return Promise.resolve()
    running ??= copyDue()
      .then(reportBehind)
      .finally(() => {
        running = undefined
      })
    return running
  }

  return {
    run,
    stop: async () => {
      stopped = true
      await running?.catch(() => undefined)
    },
  }
}
