/**
 * Makes the copies of completed Snapshots, one at a time. Not at once: a Dock that is resumed or deleted right after its
 * stop would cost a copy for nothing, and what people wait for goes first. A failed one is tried again later and later.
 * When the store has no room, or one copy after the other fails, all of them pause; after the pause others are tried
 * before those that failed, since a small one may fit.
 */
import { StoreFull } from '../../object-store/index.ts'
import type { CopyContext } from './copy-context.ts'
import { CopyLost, copyBehindSince, type DueSnapshot, nextDueSnapshot } from './copy-store.ts'
import { takeCopy } from './take-copy.ts'

const lastRetryMs = 3_600_000
/** The longest that all copies wait after failures one behind the other. */
const lastPauseMs = 600_000
/** So many failures one behind the other are no fault of single Snapshots. */
const failuresBeforePause = 3

export type Copier = {
  /** Copies all that is due; resolves when nothing more is. A second call joins the first. */
  run(): Promise<void>
  /** Begins nothing more; resolves when nothing is under way. */
  stop(): Promise<void>
}

/** `onLost`: a copy was given up because its Snapshot is gone; what it has stored is for a sweep. */
export function createCopier(context: CopyContext, onLost: () => void = () => undefined): Copier {
  const { db, clock, gateway, logger, settings, metrics } = context
  const failures = new Map<string, { tries: number; until: number }>()
  let inARow = 0
  let pausedUntil = 0
  let running: Promise<void> | undefined
  let stopped = false

  const failed = (snapshot: DueSnapshot, error: unknown): void => {
    const tries = (failures.get(snapshot.id)?.tries ?? 0) + 1
    // One that found no room waits longer than all copies do: others are tried before it.
    const doublings = error instanceof StoreFull ? tries : tries - 1
    const waitMs = Math.min(settings.retryMs * 2 ** doublings, lastRetryMs)
    failures.set(snapshot.id, { tries, until: clock.now().getTime() + waitMs })
    if (error instanceof CopyLost) {
      logger.info({ snapshotId: snapshot.id }, 'copy given up')
      onLost()
      return
    }
    logger.error({ err: error, snapshotId: snapshot.id, tries }, 'copy failed; it is tried again')
    pauseAfter(error)
  }

  const pauseAfter = (error: unknown): void => {
    inARow += 1
    const isFull = error instanceof StoreFull
    metrics?.storeFull(isFull)
    if (!isFull && inARow < failuresBeforePause) return
    const waitMs = Math.min(settings.retryMs * 2 ** Math.min(inARow - 1, 20), lastPauseMs)
    pausedUntil = clock.now().getTime() + waitMs
    logger.error({ err: error, waitMs }, isFull ? 'the object store is full; copies wait' : 'copies wait')
  }

  const succeeded = (snapshot: DueSnapshot): void => {
    failures.delete(snapshot.id)
    inARow = 0
    metrics?.storeFull(false)
  }

  /** Forgets failures of Snapshots that were not tried again for long: they are gone, or copied by another process. */
  const forgetOld = (now: number): void => {
    for (const [id, { until }] of failures) if (until < now - lastRetryMs) failures.delete(id)
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

  /** False, and all copies pause, while nothing can be stored: no host is asked for bytes then. */
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
      // One by one: of a list, some would be deleted while others are copied.
      const snapshot = await nextDueSnapshot(db, {
        hosts: gateway.linkedInBulk(),
        now,
        bornBefore: new Date(now.getTime() - settings.ageMs),
        except,
      })
      if (!snapshot || stopped || !(await hasRoom())) return
      await copyOne(snapshot)
    }
  }

  const tellBehind = async (): Promise<void> => {
    const since = await copyBehindSince(db)
    metrics?.behind(since ? (clock.now().getTime() - since.getTime()) / 1000 : 0)
  }

  const run = (): Promise<void> => {
    if (stopped) return Promise.resolve()
    running ??= copyDue()
      .then(tellBehind)
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
