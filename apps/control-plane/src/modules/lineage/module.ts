import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createTimers } from '../../engine/index.ts'
import type { ObjectStore } from '../../object-store/index.ts'
import type { KeyRing } from '../../sealing/index.ts'
import { createErasureMacs, type ErasureMacs } from './erasure-macs.ts'
import type { Erased } from './erasures.ts'
import { createLineage, type Lineage } from './lineage.ts'
import { createStoreMemory } from './store-memory.ts'

export type LineageModule = {
  lineage: Lineage
  erasureMacs: ErasureMacs
  /** Repeats erasures that a restored database has undone. */
  reapplyErasures(erased: readonly Erased[]): Promise<void>
  /**
   * Records this start, and compares the database with the object store. Call it before the first order to a host: the
   * database may turn out to be a restored one.
   */
  start(): Promise<void>
  stop(): void
  /** Resolves when nothing is being written to the object store. */
  settled(): Promise<void>
}

const keepEveryMs = 10_000

export function createLineageModule(needs: {
  db: Db
  clock: Clock
  logger: Logger
  store: ObjectStore
  keyRing: KeyRing
  reapplyErasures(erased: readonly Erased[]): Promise<void>
}): LineageModule {
  const { db, clock, logger, store, keyRing, reapplyErasures } = needs
  const lineage = createLineage({ db, clock, logger })
  const memory = createStoreMemory({ db, clock, logger, store, lineage, reapplyErasures })
  const timers = createTimers({
    clock,
    logger,
    tasks: [{ name: 'lineage records in the object store', everyMs: keepEveryMs, run: memory.keep }],
  })
  return {
    lineage,
    erasureMacs: createErasureMacs(keyRing),
    reapplyErasures,
    start: async () => {
      await lineage.begin()
      await memory.compareStore()
      timers.start()
    },
    stop: timers.stop,
    settled: memory.settled,
  }
}
