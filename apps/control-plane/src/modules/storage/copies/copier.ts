/**
 * Copies completed Snapshots to the object store, several at a time, and one of each organization: the organizations take
 * turns. A Snapshot is copied only once it has reached a minimum age: a Dock that is resumed or deleted right after its stop
 * needs no copy, and user requests take precedence.
 */
import { StoreFull } from '../../../object-store/index.ts'
import type { CopyContext } from './copy-context.ts'
import { createCopyFailures } from './copy-failures.ts'
import { CopyLost, type DueSnapshot, findNextDueSnapshot, findOldestUncopiedAt } from './copy-store.ts'
import { captureSource, takeCopy } from './take-copy.ts'

/** Copies at the same time. One that takes long does not delay those of other organizations. */
export const copiesAtOnce = 3
/** A disk can be made so that no list of its files ends well. After this many failures it is copied without an index. */
const triesWithIndex = 2

export type Copier = {
  /** Copies all Snapshots that are due. A concurrent call joins the one that runs. */
  run(): Promise<void>
  /** Starts no further copy. Resolves when the current ones have ended. */
  stop(): Promise<void>
}

/** `onLost` is called if a copy is abandoned, for example because its Snapshot is gone. A sweep then removes its objects. */
export function createCopier(context: CopyContext, onLost: () => void = () => undefined): Copier {
  const { db, clock, gateway, logger, settings, metrics } = context
  const failures = createCopyFailures(context, settings.retryMs)
  const copyContext: CopyContext = { ...context, store: failures.store }
  /** The hosts of the copies in progress, by organization. */
  const copying = new Map<string, string>()
  /** Organizations that had their turn. Once no other has a Snapshot that is due, a new round begins. */
  const served = new Set<string>()
  /** True once a copy ended, or somebody called `run`, after the last search for Snapshots began. */
  let isChanged = false
  let onChange = (): void => undefined
  let running: Promise<void> | undefined
  let stopped = false

  const noteChange = (): void => {
    isChanged = true
    onChange()
  }

  const failed = (snapshot: DueSnapshot, error: unknown): void => {
    const { id: snapshotId, organizationId } = snapshot
    if (error instanceof CopyLost) {
      failures.lost(snapshot)
      logger.info(
        { snapshotId },
        'copy abandoned: its Snapshot or one of its chunks is gone, or another process has the lease',
      )
      onLost()
      return
    }
    const { tries, organizationMs, allMs } = failures.failed(snapshot, error)
    logger.error({ err: error, snapshotId, tries }, 'copy failed; retrying')
    metrics?.recordStoreFull(error instanceof StoreFull)
    if (organizationMs > 0)
      logger.error({ organizationId, waitMs: organizationMs }, 'copies of an organization pause')
    if (allMs > 0) logger.error({ waitMs: allMs }, 'the object store fails; copies pause')
  }

  const copyOne = async (snapshot: DueSnapshot): Promise<void> => {
    const startedAt = performance.now()
    const { files, ...unlisted } = captureSource(context, snapshot)
    const isListed = files && failures.triesOf(snapshot.id) < triesWithIndex
    try {
      const report = await takeCopy(copyContext, snapshot, isListed ? { ...unlisted, files } : unlisted)
      failures.succeeded(snapshot)
      metrics?.recordStoreFull(false)
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
      const waitMs = failures.storeRefused()
      const isFull = error instanceof StoreFull
      metrics?.recordStoreFull(isFull)
      logger.error(
        { err: error, waitMs },
        isFull ? 'the object store is full; copies pause' : 'the object store fails; copies pause',
      )
      return false
    }
  }

  /** Hosts that may read one more disk. One host alone never holds all places, if there are others. */
  const freeHosts = (): string[] => {
    const linked = gateway.hostsWithBulkLink()
    const each = linked.length > 1 ? copiesAtOnce - 1 : copiesAtOnce
    const copiesOn = (host: string): number => [...copying.values()].filter((each) => each === host).length
    return linked.filter((host) => copiesOn(host) < each)
  }

  // Query one at a time: Snapshots later in a list could be deleted while earlier ones are copied.
  const findNext = async (): Promise<DueSnapshot | undefined> => {
    const now = clock.now()
    const { snapshots, organizations } = failures.waiting()
    const due = {
      hosts: freeHosts(),
      now,
      except: snapshots,
      bornBefore: new Date(now.getTime() - settings.ageMs),
    }
    const busy = [...organizations, ...copying.keys()]
    const next = await findNextDueSnapshot(db, { ...due, exceptOrganizations: [...busy, ...served] })
    if (next || served.size === 0) return next
    served.clear()
    return findNextDueSnapshot(db, { ...due, exceptOrganizations: busy })
  }

  const beginDue = async (): Promise<void> => {
    while (copying.size < copiesAtOnce && !stopped && !failures.isPaused()) {
      const next = await findNext()
      if (!next || stopped || !(await hasRoom())) return
      served.add(next.organizationId)
      copying.set(next.organizationId, next.hostId)
      void copyOne(next).finally(() => {
        copying.delete(next.organizationId)
        noteChange()
      })
    }
  }

  const reportBehind = async (): Promise<void> => {
    const since = await findOldestUncopiedAt(db)
    metrics?.recordDelay(since ? (clock.now().getTime() - since.getTime()) / 1000 : 0)
  }

  const copyDue = async (): Promise<void> => {
    for (;;) {
      isChanged = false
      try {
        await beginDue()
        await reportBehind()
      } catch (error) {
        if (copying.size === 0) throw error
        logger.error({ err: error }, 'cannot look for Snapshots to copy now')
      }
      if (isChanged) continue
      if (copying.size === 0) return
      await new Promise<void>((resolve) => {
        onChange = resolve
      })
    }
  }

  const run = (): Promise<void> => {
    if (stopped) return Promise.resolve()
    noteChange()
    running ??= copyDue().finally(() => {
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
