/** The dependencies of this module's operations. Created once when the server starts. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { OperationRunner } from '../../engine/index.ts'
import type { Limits } from '../limits/index.ts'

export type TemplateContext = {
  db: Db
  clock: Clock
  runner: OperationRunner
  /** Limits of organizations that have no limits of their own. */
  limits: Limits
}
