/**
 * Shows or sets the plan of one organization, directly in the database. Run by script/plan; needs no server. A running
 * server subscribes the organization within a minute if a payment company is configured.
 */
import { createLogger } from '@dock/foundation'
import { setPlan } from './modules/billing/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const [organization = '', plan] = process.argv.slice(2)
const logger = createLogger('plan')
await runOnDatabase('plan', (db) => setPlan({ db, logger, accounts: null }, organization, plan))
