/**
 * Makes the copies of completed Snapshots, one at a time. Not at once: a Dock that is resumed or deleted right after its
 * stop would cost a copy for nothing, and what people wait for goes first.
 */
import type { CopyContext } from './copy-context.ts'
import { CopyLost, copyBehindSince, type DueSnapshot, nextDueSnapshot } from './copy-store.ts'
import { takeCopy } from './take-copy.ts'

const lastRetryMs = 3_600_000

export type Copier = {
  /** Copies all that is due; resolves when nothing more is. A second call joins the first. */
  run(): Promise<void>
  /** Begins nothing more; resolves when nothing is under way. */
  stop(): Promise<void>
}

/** `onLost`: a copy was given up because its Snapshot is gone; what it has stored is for a sweep. */
export const createCopier = (context: CopyContext, onLost: () => void = () => undefined): Copier => {
  const { db, clock, gateway, logger, settings, metrics } = context
  const failures = new Map<string, { tries: number; until: number }>()
  let running: Promise<void> | undefined
  let stopped = false

  const failed = (snapshot: DueSnapshot, error: unknown): void => {
    const tries = (failures.get(snapshot.id)?.tries ?? 0) + 1
    const waitMs = Math.min(settings.retryMs * 2 ** (tries - 1), lastRetryMs)
    failures.set(snapshot.id, { tries, until: clock.now().getTime() + waitMs })
    if (error instanceof CopyLost) {
      logger.info({ snapshotId: snapshot.id }, 'copy given up')
      onLost()
    } else logger.error({ err: error, snapshotId: snapshot.id, tries }, 'copy failed; it is tried again')
  }

  const copyOne = async (snapshot: DueSnapshot): Promise<void> => {
    const startedAt = performance.now()
    try {
      const report = await takeCopy(context, snapshot)
      failures.delete(snapshot.id)
      const ms = Math.round(performance.now() - startedAt)
      if (report) logger.info({ snapshotId: snapshot.id, ...report, ms }, 'Snapshot copied')
    } catch (error) {
      failed(snapshot, error)
    }
  }

  const copyDue = async (): Promise<void> => {
    for (;;) {
      const now = clock.now()
      const except = [...failures].filter(([, { until }]) => until > now.getTime()).map(([id]) => id)
      // One by one: of a list, some would be deleted while others are copied.
      const snapshot = await nextDueSnapshot(db, {
        hosts: gateway.linkedInBulk(),
        now,
        bornBefore: new Date(now.getTime() - settings.ageMs),
        except,
      })
      if (!snapshot || stopped) return
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
