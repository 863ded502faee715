/** Constructs the billing module: the ledger, the accounts with the payment company, and their upkeep. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import { ignoreSubscriptions, openAccount } from './account-store.ts'
import { createAccounts } from './accounts.ts'
import type { BillingContext } from './billing-context.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { PlanFile } from './plan-file.ts'
import { savePlans } from './plan-store.ts'
import type { BillingProvider } from './provider.ts'
import { reportUsage } from './reports.ts'
import { billingRoutes } from './routes.ts'
import { removeUsageRows } from './usage-store.ts'

export type BillingModule = {
  context: BillingContext
  routes: Handlers
  ledger: Ledger
  /** Reports closed days to the payment company. */
  report(): Promise<void>
  /** Handles an event of the payment company. Undefined: none is configured. */
  handleEvent: ((payload: string, signature: string) => Promise<void>) | undefined
  /**
   * Ends the subscription of a removed organization once all its usage is reported, then deletes its usage. Returns the
   * number of resources that are left.
   */
  removeUsage(organizationId: string): Promise<number>
  /** Saves the operator's plans, and starts the upkeep. */
  start(): Promise<void>
  stop(): void
}

const minuteMs = 60_000

export function createBillingModule(options: {
  db: Db
  clock: Clock
  logger: Logger
  /** Undefined: the operator has no file of plans. */
  plans: PlanFile | undefined
  /** Undefined: no payment company. */
  provider: BillingProvider | undefined
}): BillingModule {
  const { db, clock, logger, plans, provider } = options
  const ledger = createLedger(db)
  const accounts = provider ? createAccounts({ db, logger, provider }) : null
  const report = async (): Promise<void> => {
    if (provider) await reportUsage({ db, logger, provider })
  }
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'days of the ledger', everyMs: minuteMs, run: ledger.close },
      { name: 'costs of the month', everyMs: minuteMs, run: ledger.refresh },
      { name: 'old usage', everyMs: 60 * minuteMs, run: ledger.prune },
      ...(accounts
        ? [
            { name: 'billing accounts', everyMs: minuteMs, run: accounts.syncAll },
            { name: 'reports of usage', everyMs: minuteMs, run: report },
            { name: 'states of subscriptions', everyMs: 60 * minuteMs, run: accounts.refreshAll },
          ]
        : []),
    ],
  })
  const context = { db, clock, logger, accounts }
  return {
    context,
    routes: billingRoutes(context),
    ledger,
    report,
    handleEvent: accounts?.handleEvent,
    removeUsage: async (organizationId) => {
      if (accounts) {
        await accounts.sync(organizationId)
        if ((await openAccount(db, organizationId))?.subscriptionId) return 1
      }
      return removeUsageRows(db, organizationId)
    },
    start: async () => {
      const retired = await savePlans(db, plans ?? { currency: 'XXX', plans: [] })
      if (retired.length > 0)
        logger.warn({ plans: retired }, 'organizations have plans that are not in the file of plans')
      if (!provider) await ignoreSubscriptions(db)
      timers.start()
    },
    stop: timers.stop,
  }
}
