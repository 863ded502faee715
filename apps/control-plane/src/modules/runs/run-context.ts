/** The dependencies of this module's operations. Created once when the server starts. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { DockContext } from '../docks/index.ts'

export type RunContext = {
  db: Db
  clock: Clock
  docks: DockContext
}
