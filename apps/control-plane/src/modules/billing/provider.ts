/** What Dock needs of a payment company. Each company has an adapter in `gateways`; the module knows none of them. */

export type Subscription = {
  id: string
  /** `ended` is final. */
  state: 'active' | 'unpaid' | 'ended'
}

export type BillingProvider = {
  name: string
  /** Creates the customer of an organization, who gets invoices at `email`. The same key returns the same customer. */
  createCustomer(organization: { id: string; name: string; email: string }, key: string): Promise<string>
  /** Subscribes a customer to pay for reported usage. Returns the subscription that the customer has already, if any. */
  createSubscription(customerId: string, key: string): Promise<Subscription>
  readSubscription(id: string): Promise<Subscription>
  /** Ends the subscription with a last invoice. Succeeds if it has ended already. */
  endSubscription(id: string): Promise<void>
  /** Reports a cost. A repeated identifier counts once, for at least {@link identifiersKnownMs}. */
  reportUsage(usage: { identifier: string; customerId: string; at: Date; micros: number }): Promise<void>
  /** Returns the sum of the costs that were reported for this time. It may lack what was reported in the last hours. */
  readReported(usage: { customerId: string; from: Date; until: Date }): Promise<number>
  /**
   * Verifies an event that the company sent. Returns the customer that it is about, or null if Dock ignores such events.
   * Throws {@link EventNotGenuine}.
   */
  readEvent(payload: string, signature: string): Promise<{ customerId: string } | null>
}

/** An hour less than companies promise. */
export const identifiersKnownMs = 23 * 3_600_000

/** The company refused a request and did nothing. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused'
}

/**
 * The company answered that it failed. It may have done what was asked, and may repeat this answer for the same key, so
 * the next request needs another one.
 */
export class ProviderFailed extends Error {
  override readonly name = 'ProviderFailed'
}

/** The event was not signed by the company, or too long ago. */
export class EventNotGenuine extends Error {
  override readonly name = 'EventNotGenuine'
}
