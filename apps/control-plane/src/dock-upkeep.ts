/** Periodic tasks of Docks, hosts and their records. Each task belongs to the module that owns the data. */
import { createTimers, pruneOperations, type Timers } from './engine/index.ts'
import {
  activitySweepMs,
  type DockContext,
  deleteExpiredKeys,
  deleteExpiredOutcomes,
  pruneDockRecords,
  usageSweepMs,
  wipeArchivedDocks,
} from './modules/docks/index.ts'
import { pruneVersions } from './modules/environments/index.ts'
import { countQuarantined, type HostEvents, type LostTime } from './modules/hosts/index.ts'
import type { StoreMemory } from './modules/lineage/index.ts'
import { wipeTemplates } from './modules/templates/index.ts'

const dropIdempotencyKeys = async ({ db, clock }: DockContext): Promise<void> => {
  await deleteExpiredOutcomes({ db, clock })
  await deleteExpiredKeys(db, clock.now())
}

/** Deletes records whose retention period is over. */
const pruneRecords = async ({ db, clock }: DockContext): Promise<void> => {
  await pruneVersions({ db, clock })
  await pruneOperations({ db, clock })
  await pruneDockRecords({ db, clock })
}

/**
 * Wipes the data at rest of organizations with zero data retention. Templates go first: a Template prevents the
 * deletion of its Dock.
 */
export async function wipeRetained(context: DockContext): Promise<void> {
  await wipeTemplates(context.db)
  await wipeArchivedDocks(context)
}

export function createDockUpkeep(options: {
  context: DockContext
  lostTime: LostTime
  storeMemory: StoreMemory
  hostEvents: HostEvents
  /** Called with the number of quarantined items. */
  quarantined?: ((things: number) => void) | undefined
}): Timers {
  const { context, lostTime, storeMemory, hostEvents, quarantined } = options
  const { db, clock, logger, activity, usage } = context
  return createTimers({
    clock,
    logger,
    tasks: [
      { name: 'activity', everyMs: activitySweepMs, run: () => activity.sweep() },
      { name: 'usage', everyMs: usageSweepMs, run: () => usage.writeEnded() },
      { name: 'idempotency keys', everyMs: 60_000, run: () => dropIdempotencyKeys(context) },
      { name: 'old records', everyMs: 600_000, run: () => pruneRecords(context) },
      { name: 'zero data retention', everyMs: 60_000, run: () => wipeRetained(context) },
      { name: 'lineage records on hosts', everyMs: 5_000, run: lostTime.updateHosts },
      { name: 'lineage records in the object store', everyMs: 10_000, run: storeMemory.keep },
      {
        name: 'quarantine',
        everyMs: 15_000,
        run: async () => quarantined?.(await countQuarantined(db)),
      },
      { name: 'silent hosts', everyMs: 1_000, run: () => hostEvents.noticeSilence() },
      { name: 'held recoveries', everyMs: 1_000, run: () => hostEvents.recoverHeld() },
    ],
  })
}
