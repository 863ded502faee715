/** Accounts, reports and events through Stripe, against a stand-in that loses answers. */
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import {
  type StripeFailure,
  type StripeServer,
  startStripe,
} from '@dock/testkit/src/billing/stripe-server.ts'
import { setMeteringTime, useVirtualMetering } from '@dock/testkit/src/billing/virtual-metering.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { setPlan } from '../../modules/billing/index.ts'
import { createStripeProvider } from './stripe-provider.ts'

const webhookSecret = 'whsec_test'
const prices = { vcpuSecond: '10', memoryGiBSecond: '1', diskGiBMonth: 0, snapshotGiBMonth: 0 }
const plan = { name: 'team', concurrentDocks: 5, concurrentFastRuns: null, monthlyBudget: null, prices }

let stripe: StripeServer
let server: ControlPlaneWithHost
let session: { cookie: string }
beforeAll(async () => {
  stripe = await startStripe(webhookSecret)
  const settings = { secretKey: 'sk_test', webhookSecret, price: 'price_1', meter: 'mtr_1' }
  server = await startControlPlaneWithHost({
    environment: { DOCK_BILLING: 'on', DOCK_PLANS: JSON.stringify({ currency: 'EUR', plans: [plan] }) },
    billingProvider: createStripeProvider(settings, stripe.address),
  })
  // The tests do by themselves what its timers would do.
  server.controlPlane.billing.stop()
  session = await server.signIn()
})
afterAll(async () => {
  await server.stop()
  await stripe.stop()
})
beforeEach(async () => {
  await sql`truncate usage_spans, ledger_days, ledger_docks, ledger_reports`.execute(server.database.db)
  await useVirtualMetering(server.database.db, new Date('2026-03-10T12:00:00Z'))
})

const db = () => server.database.db
const billing = () => server.controlPlane.billing

const newOrganization = async () => {
  const owner = await addPerson(server)
  const ask = async (method: string, path: string, body?: unknown) => {
    const { body: answer } = await server.call(method, path, body, owner.apiKey)
    return answer.ok ? answer.data : answer.code
  }
  const { id } = (await ask('POST', '/v1/organizations', { name: 'Pays' })) as { id: string }
  const [workspace] = (await ask('GET', `/v1/organizations/${id}/workspaces`)) as [{ id: string }]
  const create = async () => {
    const made = await ask('POST', '/v1/docks', { workspaceId: workspace.id, cpus: 1, memoryMiB: 1024 })
    return typeof made === 'string' ? made : (made as { id: string }).id
  }
  const account = async () =>
    (
      await sql<{ customer: string; subscription: string | null }>`
        select customer_id as customer, subscription_id as subscription from billing_accounts
        where organization_id = ${id}`.execute(db())
    ).rows[0]!
  return { id, ask, create, account }
}
const putPlan = async (id: string, body: object) => {
  const response = await server.fetch(`/v1/organizations/${id}/plan`, {
    method: 'PUT',
    headers: { cookie: session.cookie, origin: server.config.apiUrl, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return ((await response.json()) as { data: { active: boolean } }).data
}
const send = async ({ payload, signature }: { payload: string; signature: string }) =>
  (
    await server.fetch('/v1/billing/events', {
      method: 'POST',
      headers: { 'stripe-signature': signature },
      body: payload,
    })
  ).status
/** Stripe's library itself repeats a request once if the connection breaks. */
const fail = (...failures: StripeFailure[]) => {
  stripe.failures = failures.flatMap<StripeFailure>((failure) =>
    typeof failure === 'string' ? [failure, failure] : [failure],
  )
}
const uuid = /^[0-9a-f-]{36}$/
const closeDay = async (until: string) => {
  await setMeteringTime(db(), new Date(`${until}T00:00:00Z`))
  await expect
    .poll(async () => {
      await billing().ledger.close()
      return (await sql<{ day: string }>`select closed_until::text as day from ledger_calendar`.execute(db()))
        .rows[0]?.day
    })
    .toBe(until)
}
const owed = async (id: string) =>
  (
    await sql<{ day: string; cost: number }>`select day::text, cost_micros as cost from ledger_days
      where organization_id = ${id} and cost_micros > 0 order by day`.execute(db())
  ).rows
const counted = (id: string) =>
  stripe.meterEvents
    .filter(({ identifier }) => identifier.includes(id))
    .map(({ timestamp, value }) => ({
      day: new Date(timestamp * 1000).toISOString().slice(0, 10),
      cost: value,
    }))
    .toSorted((one, other) => one.day.localeCompare(other.day))

it.each<StripeFailure>([null, 'lost', 'lost-after', 429, 500])(
  'makes one customer and one subscription, also if answers fail: %s',
  async (failure) => {
    const before = [stripe.customers.size, stripe.subscriptions.size]
    const { id, create } = await newOrganization()
    fail(failure)
    expect((await putPlan(id, { plan: 'team' })).active).toBe(failure === null)
    if (failure !== null) expect(await create()).toBe('subscription_required')
    // Each round gets one request further: the customer, the list of subscriptions, the subscription, its state.
    for (const failures of [[null, failure], [null, null, failure], [null, null, null, failure], []]) {
      fail(...failures)
      await billing().context.accounts?.syncAll()
    }
    await billing().context.accounts?.refreshAll()
    expect(await create()).toMatch(uuid)
    expect([stripe.customers.size, stripe.subscriptions.size]).toEqual([before[0]! + 1, before[1]! + 1])
  },
)

it('applies events to the current state, whatever their order and however often they come', async () => {
  const { id, create, account } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  const { customer, subscription } = await account()
  const set = (status: string) => {
    stripe.subscriptions.get(subscription!)!.status = status
    return stripe.event(customer)
  }
  const [paid, unpaid, again] = [set('active'), set('unpaid'), set('past_due')]
  expect(await send(unpaid)).toBe(200)
  expect(await create()).toMatch(uuid)
  set('unpaid')
  for (const event of [paid, again, paid]) expect(await send(event)).toBe(200)
  expect(await create()).toBe('subscription_required')
  set('active')
  fail('lost')
  expect(await send(unpaid)).toBe(503)
  expect(await create()).toBe('subscription_required')
  expect(await send(unpaid)).toBe(200)
  expect(await create()).toMatch(uuid)
})

it('lets no older answer replace a newer one', async () => {
  const { id, create, account } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  const { customer, subscription } = await account()
  const held = Promise.withResolvers<void>()
  stripe.holdRead = held.promise
  const known = stripe.requests.length
  const early = send(stripe.event(customer))
  await expect.poll(() => stripe.requests.length).toBe(known + 1)
  stripe.holdRead = undefined
  stripe.subscriptions.get(subscription!)!.status = 'unpaid'
  expect(await send(stripe.event(customer))).toBe(200)
  held.resolve()
  expect(await early).toBe(200)
  expect(await create()).toBe('subscription_required')
})

it('refuses events that Stripe did not sign, and ignores those of others', async () => {
  const { id, account } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  const { customer } = await account()
  const genuine = stripe.event(customer)
  expect(await send({ ...genuine, signature: genuine.signature.replace(/.$/, 'x') })).toBe(400)
  expect(await send({ ...genuine, payload: `${genuine.payload} ` })).toBe(400)
  expect(await send({ ...genuine, signature: '' })).toBe(400)
  const requests = stripe.requests.length
  expect(await send(stripe.event('cus_of_another_program'))).toBe(200)
  expect(await send(stripe.event(customer, 'invoice.paid'))).toBe(200)
  expect(stripe.requests.length).toBe(requests)
})

it('reports each closed day once, through lost answers and refusals', async () => {
  const { id, create } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  expect(await create()).toMatch(uuid)
  for (const [day, failures] of [
    ['2026-03-11', ['lost']],
    ['2026-03-12', ['lost-after']],
    ['2026-03-13', [null, 'lost-after']],
    ['2026-03-14', [500, 429]],
  ] as [string, StripeFailure[]][]) {
    await closeDay(day)
    fail(...failures)
    await billing().report()
    await billing().report()
    fail()
    await billing().report()
    await billing().report()
  }
  const days = await owed(id)
  expect(days.map(({ day }) => day)).toEqual(['2026-03-10', '2026-03-11', '2026-03-12', '2026-03-13'])
  expect(counted(id)).toEqual(days)
})

it('reports the usage of others although the answer about one organization is always lost', async () => {
  const ids: string[] = []
  for (let index = 0; index < 2; index++) {
    const { id, create } = await newOrganization()
    await putPlan(id, { plan: 'team' })
    expect(await create()).toMatch(uuid)
    ids.push(id)
  }
  const [first, second] = ids.toSorted()
  await closeDay('2026-03-11')
  await sql`delete from ledger_days where not organization_id = any(${ids}::uuid[])`.execute(db())
  for (let round = 0; round < 2; round++) {
    fail(500)
    await billing().report()
  }
  expect([counted(first!), counted(second!)]).toEqual([[], await owed(second!)])
  await billing().report()
  expect(counted(first!)).toEqual(await owed(first!))
})

it.each<[StripeFailure, number]>([
  ['lost', 0],
  ['lost-after', 1],
])('asks Stripe what it counted once it may have forgotten identifiers: %s', async (failure, known) => {
  const { id, create } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  expect(await create()).toMatch(uuid)
  await closeDay('2026-03-11')
  fail(failure)
  await billing().report()
  expect(counted(id)).toHaveLength(known)
  await setMeteringTime(db(), new Date('2026-03-11T23:30:00Z'))
  stripe.identifiers.clear()
  fail(failure, failure)
  await billing().report()
  fail()
  await billing().report()
  expect(counted(id)).toEqual(await owed(id))
})

it('ends the subscription of a removed organization once all its usage is reported', async () => {
  const { id, create, ask, account } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  const dockId = await create()
  await setMeteringTime(db(), new Date('2026-03-10T13:00:00Z'))
  await ask('POST', `/v1/docks/${dockId}/stop`, { force: true })
  const { subscription } = await account()
  await ask('DELETE', `/v1/organizations/${id}`)
  expect(await billing().removeUsage(id)).toBe(1)
  await closeDay('2026-03-11')
  expect(await billing().removeUsage(id)).toBe(1)
  await billing().report()
  expect(counted(id)).toEqual([{ day: '2026-03-10', cost: 11 * 3600 }])
  fail('lost-after')
  // The server removes the organization as well, at the same time.
  await expect
    .poll(() =>
      billing()
        .removeUsage(id)
        .catch(() => 'failed'),
    )
    .toBe(0)
  expect(stripe.subscriptions.get(subscription!)?.status).toBe('canceled')
})

it('ends the subscription when the plan is taken away, and makes a new one for a new plan', async () => {
  const { id, create, account } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  const { subscription } = await account()
  await putPlan(id, { plan: null })
  expect(stripe.subscriptions.get(subscription!)?.status).toBe('canceled')
  await putPlan(id, { plan: 'team' })
  expect(await create()).toMatch(uuid)
  // Stripe ends it after payments that failed. Nothing but a change of the plan starts another.
  const { subscription: second, customer } = await account()
  stripe.subscriptions.get(second!)!.status = 'canceled'
  await send(stripe.event(customer))
  await billing().context.accounts?.syncAll()
  expect(await create()).toBe('subscription_required')
  await putPlan(id, { plan: 'team' })
  expect(await create()).toMatch(uuid)
})

it('renews an ended subscription when the plan is set again by the script, or if answers fail', async () => {
  const { id, create, account } = await newOrganization()
  await putPlan(id, { plan: 'team' })
  const byScript = () => setPlan({ ...billing().context, accounts: null }, id, 'team')
  const withLostAnswer = async () => {
    fail('lost')
    await putPlan(id, { plan: 'team' })
  }
  for (const setAgain of [byScript, withLostAnswer]) {
    const { customer, subscription } = await account()
    stripe.subscriptions.get(subscription!)!.status = 'canceled'
    await send(stripe.event(customer))
    await setAgain()
    expect(await create()).toBe('subscription_required')
    await billing().context.accounts?.syncAll()
    expect(await create()).toMatch(uuid)
  }
})
