/**
 * Closes the days of the ledger. A day is closed only once every transaction that may have changed a Dock on that day has
 * ended, so that nothing can be added to it afterwards. Each day is one transaction: a crash closes all of it or nothing.
 */
import type { Db } from '../../database/database.ts'
import {
  closeNextDay,
  type Horizon,
  isSettled,
  pruneUsage,
  readHorizon,
  refreshSpent,
} from './usage-store.ts'

export type Ledger = {
  /** Closes the days that have ended. */
  close(): Promise<void>
  /** Saves what the current month has cost so far. */
  refresh(): Promise<void>
  /** Deletes old records of closed days. */
  prune(): Promise<void>
}

export function createLedger(db: Db): Ledger {
  let horizon: Horizon | null = null
  return {
    close: async () => {
      horizon ??= await readHorizon(db)
      if (!(await isSettled(db, horizon))) return
      const settledUntil = horizon.at
      horizon = null
      while (await closeNextDay(db, settledUntil));
    },
    refresh: () => refreshSpent(db, null),
    prune: () => pruneUsage(db),
  }
}
