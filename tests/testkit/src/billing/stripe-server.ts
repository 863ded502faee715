/**
 * A stand-in for the few endpoints of Stripe that Dock uses, on loopback. It keeps idempotency keys and identifiers like
 * Stripe, and loses answers when a test asks. Tests only.
 */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `lost`: the connection breaks before the request is handled; `lost-after`: after it. A number is an error's status. Null: it succeeds. */
export type StripeFailure = 'lost' | 'lost-after' | 429 | 500 | null

type MeterEvent = { identifier: string; customer: string; value: number; timestamp: number }

export type StripeServer = {
  address: { host: string; port: number }
  customers: Map<string, { organizationId: string; email: string | null }>
  /** Statuses of subscriptions. */
  subscriptions: Map<string, { id: string; customer: string; status: string }>
  /** Events that Stripe counted. */
  meterEvents: MeterEvent[]
  /** Identifiers that Stripe still knows. */
  identifiers: Set<string>
  /** Failures of the next requests, one entry per request. */
  failures: StripeFailure[]
  /** Requests received, such as `POST /v1/customers`. */
  requests: string[]
  /** Awaited before the answer to a read is sent. The answer was made before that. */
  holdRead: Promise<void> | undefined
  /** Returns a signed event about a customer's subscription, as Stripe sends it now. */
  event(customerId: string, type?: string): { payload: string; signature: string }
  stop(): Promise<void>
}

type Answer = { status: number; body: object }

const readForm = async (request: IncomingMessage): Promise<URLSearchParams> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

const refusal = (status: number, message: string, code?: string): Answer => ({
  status,
  body: { error: { type: status < 500 ? 'invalid_request_error' : 'api_error', message, code } },
})

export async function startStripe(webhookSecret: string): Promise<StripeServer> {
  const answers = new Map<string, Answer>()
  let made = 0
  const fresh = (kind: string): string => `${kind}_${++made}`

  const handle = (method: string, path: string, form: URLSearchParams): Answer => {
    const id = path.split('/').at(-1)!
    const known = stripe.subscriptions.get(id)
    if (method === 'POST' && path === '/v1/customers') {
      const customer = fresh('cus')
      stripe.customers.set(customer, {
        organizationId: form.get('metadata[dock_organization]') ?? '',
        email: form.get('email'),
      })
      return { status: 200, body: { id: customer, object: 'customer' } }
    }
    if (method === 'POST' && path === '/v1/subscriptions') {
      const customer = form.get('customer') ?? ''
      const payer = stripe.customers.get(customer)
      if (!payer) return refusal(400, 'No such customer', 'resource_missing')
      if (form.get('collection_method') === 'send_invoice' && !payer.email)
        return refusal(400, 'Missing email. The customer must have a valid email to be sent invoices.')
      const subscription = { id: fresh('sub'), object: 'subscription', customer, status: 'active' }
      stripe.subscriptions.set(subscription.id, subscription)
      return { status: 200, body: { ...subscription } }
    }
    if (method === 'GET' && path === '/v1/subscriptions') {
      const data = [...stripe.subscriptions.values()].filter(
        ({ customer, status }) => customer === form.get('customer') && status !== 'canceled',
      )
      return { status: 200, body: { object: 'list', data, has_more: false, url: path } }
    }
    if (path.startsWith('/v1/subscriptions/')) {
      if (!known) return refusal(404, 'No such subscription', 'resource_missing')
      if (method === 'DELETE' && known.status === 'canceled')
        return refusal(404, 'No such subscription', 'resource_missing')
      if (method === 'DELETE') known.status = 'canceled'
      return { status: 200, body: { ...known } }
    }
    if (path === '/v1/billing/meters/mtr_1') return { status: 200, body: { id, event_name: 'dock_usage' } }
    if (path === '/v1/billing/meters/mtr_1/event_summaries') {
      const [from, until] = [Number(form.get('start_time')), Number(form.get('end_time'))]
      const within = stripe.meterEvents.filter(
        ({ customer, timestamp }) =>
          customer === form.get('customer') && timestamp >= from && timestamp < until,
      )
      const aggregated_value = within.reduce((sum, { value }) => sum + value, 0)
      return {
        status: 200,
        body: { object: 'list', data: [{ aggregated_value }], has_more: false, url: path },
      }
    }
    if (method === 'POST' && path === '/v1/billing/meter_events') {
      const identifier = form.get('identifier') ?? ''
      if (stripe.identifiers.has(identifier))
        return refusal(400, `An event already exists with identifier ${identifier}.`)
      stripe.identifiers.add(identifier)
      stripe.meterEvents.push({
        identifier,
        customer: form.get('payload[stripe_customer_id]') ?? '',
        value: Number(form.get('payload[value]')),
        timestamp: Number(form.get('timestamp')),
      })
      return { status: 200, body: { object: 'billing.meter_event', identifier } }
    }
    return refusal(404, `no endpoint ${method} ${path}`)
  }

  const server = createServer(async (request, response) => {
    const { method = '', url = '' } = request
    const { pathname: path, searchParams } = new URL(url, 'http://stripe')
    const form = method === 'GET' ? searchParams : await readForm(request)
    stripe.requests.push(`${method} ${path}`)
    const failure = stripe.failures.shift()
    if (failure === 'lost') return request.socket.destroy()
    const header = request.headers['idempotency-key']
    const key = typeof header === 'string' ? header : undefined
    const earlier = key === undefined ? undefined : answers.get(key)
    const answer =
      earlier ??
      (typeof failure === 'number' ? refusal(failure, 'the test asked for it') : handle(method, path, form))
    // Like Stripe: a failure is kept under its key too, but not the refusal of too many requests.
    if (key !== undefined && answer.status !== 429) answers.set(key, answer)
    if (failure === 'lost-after') return request.socket.destroy()
    if (method === 'GET') await stripe.holdRead
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stripe: StripeServer = {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    customers: new Map(),
    subscriptions: new Map(),
    meterEvents: [],
    identifiers: new Set(),
    failures: [],
    requests: [],
    holdRead: undefined,
    event: (customerId, type = 'customer.subscription.updated') => {
      const subscription = [...stripe.subscriptions.values()].find(({ customer }) => customer === customerId)
      const payload = JSON.stringify({
        id: fresh('evt'),
        object: 'event',
        type,
        data: { object: { ...subscription, customer: customerId } },
      })
      const timestamp = Math.floor(Date.now() / 1000)
      const mac = createHmac('sha256', webhookSecret).update(`${timestamp}.${payload}`).digest('hex')
      return { payload, signature: `t=${timestamp},v1=${mac}` }
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return stripe
}
