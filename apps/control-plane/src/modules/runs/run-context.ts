/** The dependencies of this module's operations. Created once when the server starts. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { DockContext } from '../docks/index.ts'
import type { PlanOf } from './insert-run.ts'
import type { RunLogSignals } from './run-log-signals.ts'
import type { RunGithub } from './saga/turn-context.ts'

export type RunContext = {
  db: Db
  clock: Clock
  docks: DockContext
  /** False: no fast Run gets a machine. */
  isFastOn: boolean
  github: RunGithub
  planOf: PlanOf
  logSignals: RunLogSignals
  /** Wakes the runner, so that a turn that was saved starts. */
  wake(): void
}
