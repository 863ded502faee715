/**
 * Keeps organizations' accounts with the payment company as their plans require. Every step can be repeated: a lost
 * answer is asked for again under the same key, and the state of a subscription is always read from the company.
 */
import type { Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import {
  type Account,
  countAttempt,
  findAccountOfCustomer,
  forgetSubscription,
  listAccountsToSync,
  listSubscribers,
  openAccount,
  saveAccount,
  saveSubscribed,
} from './account-store.ts'
import { type BillingProvider, ProviderFailed, ProviderRefused } from './provider.ts'
import { hasPendingUsage } from './report-store.ts'

export type Accounts = {
  /**
   * Subscribes an organization that has a plan, or ends its subscription. Replaces a subscription that has ended if the
   * plan was set again since.
   */
  sync(organizationId: string): Promise<void>
  /** Does so for all organizations that need it. */
  syncAll(): Promise<void>
  /** Reads the state of every subscription, in case an event was lost. */
  refreshAll(): Promise<void>
  /** Handles an event of the company. Rejects if it must be sent again. */
  handleEvent(payload: string, signature: string): Promise<void>
}

/** How often a state is read again because another one was saved in the meantime. */
const readsMax = 5

export function createAccounts(options: { db: Db; logger: Logger; provider: BillingProvider }): Accounts {
  const { db, logger, provider } = options

  /** Sends a request under a key of the account. If it was answered, the next request has another key. */
  const request = async <T>(
    account: Account,
    what: string,
    send: (key: string) => Promise<T>,
  ): Promise<T> => {
    try {
      return await send(`dock-${what}-${account.organizationId}-${account.attempt}`)
    } catch (error) {
      if (error instanceof ProviderRefused || error instanceof ProviderFailed)
        await countAttempt(db, account.organizationId)
      throw error
    }
  }

  const refresh = async (organizationId: string): Promise<void> => {
    for (let read = 0; read < readsMax; read++) {
      const account = await openAccount(db, organizationId)
      if (!account?.subscriptionId) return
      const { state } = await provider.readSubscription(account.subscriptionId)
      if (state === 'ended' && account.renew) {
        await forgetSubscription(db, organizationId)
        return sync(organizationId)
      }
      if (await saveSubscribed(db, account, state === 'active')) return
    }
    throw new Error('the state of the subscription changes too often')
  }

  const end = async ({ organizationId, subscriptionId }: Account): Promise<void> => {
    if (subscriptionId === null || (await hasPendingUsage(db, organizationId))) return
    await provider.endSubscription(subscriptionId)
    await forgetSubscription(db, organizationId)
  }

  const sync = async (organizationId: string): Promise<void> => {
    const account = await openAccount(db, organizationId)
    if (!account) return
    if (!account.hasPlan) return end(account)
    let { customerId } = account
    if (customerId === null) {
      const { name, email } = account
      if (email === null) return
      const organization = { id: organizationId, name, email }
      customerId = await request(account, 'customer', (key) => provider.createCustomer(organization, key))
      await saveAccount(db, organizationId, { customerId })
    }
    if (account.subscriptionId === null) {
      const known = customerId
      const { id } = await request(account, 'subscription', (key) => provider.createSubscription(known, key))
      await saveAccount(db, organizationId, { subscriptionId: id })
    }
    await refresh(organizationId)
  }

  const forEach = async (ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> => {
    for (const organizationId of ids)
      await work(organizationId).catch((error: unknown) =>
        logger.warn(
          { err: error, organizationId, provider: provider.name },
          'billing account failed; retried',
        ),
      )
  }

  return {
    sync,
    syncAll: async () => forEach(await listAccountsToSync(db), sync),
    refreshAll: async () => forEach(await listSubscribers(db), refresh),
    handleEvent: async (payload, signature) => {
      const event = await provider.readEvent(payload, signature)
      if (!event) return
      const organizationId = await findAccountOfCustomer(db, event.customerId)
      if (organizationId !== null) await refresh(organizationId)
    },
  }
}
