/**
 * Stripe as the payment company. Dock prices usage itself and reports the cost in micro-units to one meter; each
 * subscription has one metered price, of a millionth of the currency. Invoices are sent by Stripe.
 */
import type { Stripe } from 'stripe'
import {
  type BillingProvider,
  EventNotGenuine,
  ProviderFailed,
  ProviderRefused,
  type Subscription,
} from '../../modules/billing/index.ts'

export type StripeSettings = {
  secretKey: string
  webhookSecret: string
  /** Id of the metered price. */
  price: string
  /** Id of the meter that the price counts. */
  meter: string
}

const requestTimeoutMs = 20_000
const daysUntilDue = 14

/** A payment that failed is tried again by Stripe for some time; until it gives up, the subscription stays active. */
const stateOf = (status: Stripe.Subscription.Status): Subscription['state'] => {
  if (status === 'canceled' || status === 'incomplete_expired') return 'ended'
  return status === 'active' || status === 'trialing' || status === 'past_due' ? 'active' : 'unpaid'
}

/** Stripe did nothing if it answered with 4xx, except for 409: a request with the same key may be under way. */
const readError = (error: unknown): unknown => {
  const { statusCode: status, message } = error as { statusCode?: unknown; message: string }
  if (typeof status !== 'number' || status === 409) return error
  return status < 500
    ? new ProviderRefused(message, { cause: error })
    : new ProviderFailed(message, { cause: error })
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code

export function createStripeProvider(
  settings: StripeSettings,
  /** Replaces Stripe's address. Tests only. */
  address?: { host: string; port: number },
): BillingProvider {
  let loading: Promise<Stripe> | undefined
  // The library is large, and most instances never need it.
  const load = (): Promise<Stripe> =>
    (loading ??= import('stripe').then(
      ({ default: Client }) =>
        new Client(settings.secretKey, {
          // Dock repeats requests itself, under keys that outlive this process.
          maxNetworkRetries: 0,
          timeout: requestTimeoutMs,
          telemetry: false,
          ...(address ? { ...address, protocol: 'http' as const } : {}),
        }),
    ))

  // The name of a meter's events never changes.
  let eventName: string | undefined

  const request = async <T>(send: (stripe: Stripe) => Promise<T>): Promise<T> => {
    try {
      return await send(await load())
    } catch (error) {
      throw readError(error)
    }
  }
  const read = ({ id, status }: Stripe.Subscription): Subscription => ({ id, state: stateOf(status) })

  return {
    name: 'stripe',
    createCustomer: ({ id, name, email }, key) =>
      request(async (stripe) => {
        const customer = await stripe.customers.create(
          // Stripe refuses a subscription with invoices by mail for a customer without an address.
          { name, email, metadata: { dock_organization: id } },
          { idempotencyKey: key },
        )
        return customer.id
      }),
    createSubscription: (customer, key) =>
      request(async (stripe) => {
        // Two subscriptions would invoice the same usage twice. By default the list has none that were canceled.
        const { data } = await stripe.subscriptions.list({ customer, limit: 1 })
        if (data[0]) return read(data[0])
        const subscription = await stripe.subscriptions.create(
          {
            customer,
            items: [{ price: settings.price }],
            collection_method: 'send_invoice',
            days_until_due: daysUntilDue,
          },
          { idempotencyKey: key },
        )
        return read(subscription)
      }),
    readSubscription: (id) => request(async (stripe) => read(await stripe.subscriptions.retrieve(id))),
    endSubscription: (id) =>
      request(async (stripe) => {
        await stripe.subscriptions.cancel(id, { invoice_now: true })
      }).catch((error: unknown) => {
        if (error instanceof ProviderRefused && codeOf(error.cause) === 'resource_missing') return
        throw error
      }),
    // No idempotency key: Stripe would repeat even its own failure. The identifier alone makes the event count once.
    reportUsage: ({ identifier, customerId, at, micros }) =>
      request(async (stripe) => {
        eventName ??= (await stripe.billing.meters.retrieve(settings.meter)).event_name
        await stripe.billing.meterEvents.create({
          event_name: eventName,
          identifier,
          timestamp: Math.floor(at.getTime() / 1000),
          payload: { stripe_customer_id: customerId, value: String(micros) },
        })
      }).catch((error: unknown) => {
        if (error instanceof ProviderRefused && error.message.includes('already exists with identifier'))
          return
        throw error
      }),
    readReported: ({ customerId, from, until }) =>
      request(async (stripe) => {
        const { data } = await stripe.billing.meters.listEventSummaries(settings.meter, {
          customer: customerId,
          start_time: from.getTime() / 1000,
          end_time: until.getTime() / 1000,
        })
        return data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
      }),
    readEvent: async (payload, signature) => {
      const stripe = await load()
      let event: Stripe.Event
      try {
        event = await stripe.webhooks.constructEventAsync(payload, signature, settings.webhookSecret)
      } catch (error) {
        throw new EventNotGenuine('the signature does not match', { cause: error })
      }
      if (!event.type.startsWith('customer.subscription.')) return null
      const { customer } = event.data.object as Stripe.Subscription
      return { customerId: typeof customer === 'string' ? customer : customer.id }
    },
  }
}
