/** What Docks, hosts and their records need at regular times, each task by the module that owns it. */
import { createTimers, pruneOperations, type Timers } from './engine/index.ts'
import {
  activitySweepMs,
  type DockContext,
  dropOldKeys,
  dropOldOutcomes,
  pruneDockRecords,
  usageSweepMs,
  wipeArchivedDocks,
} from './modules/docks/index.ts'
import { pruneVersions } from './modules/environments/index.ts'
import { countQuarantined, type HostEvents, type LostTime } from './modules/hosts/index.ts'
import type { StoreMemory } from './modules/lineage/index.ts'
import { wipeTemplates } from './modules/templates/index.ts'

/** What is kept for a day of keyed requests. */
const dropKeys = async ({ db, clock }: DockContext): Promise<void> => {
  await dropOldOutcomes({ db, clock })
  await dropOldKeys(db, clock.now())
}

/** What is older than it is kept. */
const pruneRecords = async ({ db, clock }: DockContext): Promise<void> => {
  await pruneVersions({ db, clock })
  await pruneOperations({ db, clock })
  await pruneDockRecords({ db, clock })
}

/** Wipes data at rest of organizations that keep none. A Template keeps its Dock, so it goes first. */
export async function wipeRetained(context: DockContext): Promise<void> {
  await wipeTemplates(context.db)
  await wipeArchivedDocks(context)
}

export function createDockUpkeep(options: {
  context: DockContext
  lostTime: LostTime
  storeMemory: StoreMemory
  hostEvents: HostEvents
  /** Told how many things stand in quarantine. */
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
      { name: 'keys', everyMs: 60_000, run: () => dropKeys(context) },
      { name: 'old records', everyMs: 600_000, run: () => pruneRecords(context) },
      { name: 'zero data retention', everyMs: 60_000, run: () => wipeRetained(context) },
      { name: 'what hosts remember', everyMs: 5_000, run: lostTime.tell },
      { name: 'what the object store remembers', everyMs: 10_000, run: storeMemory.keep },
      {
        name: 'quarantine',
        everyMs: 15_000,
        run: async () => quarantined?.(await countQuarantined(db)),
      },
      { name: 'silence', everyMs: 1_000, run: () => hostEvents.noticeSilence() },
      { name: 'held recoveries', everyMs: 1_000, run: () => hostEvents.recoverHeld() },
    ],
  })
}
