/** What the operations of this module use. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Accounts } from './accounts.ts'

export type BillingContext = {
  db: Db
  clock: Clock
  logger: Pick<Logger, 'warn'>
  /** Null: no payment company is configured, or this program does not call it. */
  accounts: Accounts | null
}
