/**
 * What failed copies wait for. A Snapshot waits with exponential backoff. After several failures in a row its organization
 * pauses, and no other one does. Only failures of the object store, which no tenant can cause, pause all copies.
 */
import type { Clock } from '@dock/foundation'
import { type ObjectStore, StoreFull } from '../../../object-store/index.ts'
import type { DueSnapshot } from './copy-store.ts'

const retryMaxMs = 3_600_000
const pauseMaxMs = 600_000
/** After this many failures in a row the cause is unlikely to be a single Snapshot. */
const failuresBeforePause = 3

type Waiting = { inARow: number; until: number }

export type CopyFailures = {
  /** The store whose failures count for all organizations. Copies must use it. */
  store: ObjectStore
  isPaused(): boolean
  /** Snapshots and organizations that must wait now. */
  waiting(): { snapshots: string[]; organizations: string[] }
  /** How often the Snapshot failed in a row. */
  triesOf(snapshotId: string): number
  /** Records a failure. Returns how long the organization pauses, and how long all copies do; 0 if they do not. */
  failed(snapshot: DueSnapshot, error: unknown): { tries: number; organizationMs: number; allMs: number }
  /** Records that the Snapshot must be tried again, without blame for its organization. */
  lost(snapshot: DueSnapshot): void
  succeeded(snapshot: DueSnapshot): void
  /** Records that the store refused any object. Returns how long all copies pause. */
  storeRefused(): number
}

export function createCopyFailures(
  { clock, store }: { clock: Clock; store: ObjectStore },
  retryMs: number,
): CopyFailures {
  const snapshots = new Map<string, Waiting & { organizationId: string }>()
  const organizations = new Map<string, Waiting>()
  const ofStore: Waiting = { inARow: 0, until: 0 }
  const storeErrors = new WeakSet<object>()
  const nowMs = (): number => clock.now().getTime()
  const backoff = (inARow: number, maxMs: number): number =>
    Math.min(retryMs * 2 ** Math.min(inARow - 1, 20), maxMs)

  /** A store that does not fit one object may fit a smaller one, so that {@link StoreFull} is no failure of the store. */
  const blameStore = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      if (error instanceof Error && !(error instanceof StoreFull)) storeErrors.add(error)
      throw error
    }
  }

  const fail = (waiting: Waiting, maxMs: number): number => {
    waiting.inARow += 1
    const waitMs = backoff(waiting.inARow, maxMs)
    waiting.until = Math.max(waiting.until, nowMs() + waitMs)
    return waitMs
  }

  /** Counts a failure, and pauses after a few of them or if `isSure`. Returns how long the pause lasts. */
  const countTowardsPause = (counted: Waiting, isSure: boolean): number => {
    if (counted.inARow + 1 >= failuresBeforePause || isSure) return fail(counted, pauseMaxMs)
    counted.inARow += 1
    return 0
  }

  const failedSnapshot = ({ id, organizationId }: DueSnapshot): Waiting => {
    const waiting = snapshots.get(id) ?? { organizationId, inARow: 0, until: 0 }
    snapshots.set(id, waiting)
    fail(waiting, retryMaxMs)
    return waiting
  }

  /** Lets the organization's failed Snapshots wait longer than its pause, so that its others are tried first. */
  const holdBack = (organizationId: string, pauseMs: number): void => {
    for (const each of snapshots.values())
      if (each.organizationId === organizationId) each.until = Math.max(each.until, nowMs() + 2 * pauseMs)
  }

  /** Drops Snapshots that were not tried again, since they were deleted or copied by another process. */
  const forgetOld = (): void => {
    for (const known of [snapshots, organizations])
      for (const [id, { until }] of known) if (until < nowMs() - retryMaxMs) known.delete(id)
  }

  const idsWaiting = (known: ReadonlyMap<string, Waiting>): string[] =>
    [...known].filter(([, { until }]) => until > nowMs()).map(([id]) => id)

  return {
    store: {
      ...store,
      put: (key, bytes) => blameStore(store.put(key, bytes)),
      get: (key) => blameStore(store.get(key)),
    },
    isPaused: () => ofStore.until > nowMs(),
    waiting: () => {
      forgetOld()
      return { snapshots: idsWaiting(snapshots), organizations: idsWaiting(organizations) }
    },
    triesOf: (snapshotId) => snapshots.get(snapshotId)?.inARow ?? 0,
    failed: (snapshot, error) => {
      const { inARow: tries } = failedSnapshot(snapshot)
      if (error instanceof Error && storeErrors.has(error))
        return { tries, organizationMs: 0, allMs: countTowardsPause(ofStore, false) }
      const organization = organizations.get(snapshot.organizationId) ?? { inARow: 0, until: nowMs() }
      organizations.set(snapshot.organizationId, organization)
      const organizationMs = countTowardsPause(organization, error instanceof StoreFull)
      holdBack(snapshot.organizationId, organizationMs)
      return { tries, organizationMs, allMs: 0 }
    },
    lost: (snapshot) => void failedSnapshot(snapshot),
    succeeded: ({ id, organizationId }) => {
      snapshots.delete(id)
      organizations.delete(organizationId)
      ofStore.inARow = 0
    },
    storeRefused: () => fail(ofStore, pauseMaxMs),
  }
}
