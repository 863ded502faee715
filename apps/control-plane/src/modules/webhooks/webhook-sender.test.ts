/** Deliveries that cannot be prepared, and which endpoints are served first. */
import { createLogger, newUuid } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Sealer } from '../../sealing/index.ts'
import { saveDelivery } from './delivery-store.ts'
import { enableEndpointRow, insertEndpoint, secretPlace } from './endpoint-store.ts'
import type { Receipt } from './public-web.ts'
import { createWebhookSender } from './webhook-sender.ts'

/** Repeats until the check holds. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000 })

let server: TestControlPlane
let clock: VirtualClock
beforeEach(async () => {
  clock = createVirtualClock()
  server = await startTestControlPlane({ clock })
})
afterEach(() => server.stop())

const db = () => server.database.db
const ok: Receipt = { status: 200, retryAfterSeconds: null, answer: '' }

type Endpoint = { id: string; url: string; organizationId: string }

const addOrganization = async (): Promise<string> => {
  const id = newUuid()
  await db().insertInto('organizations').values({ id, name: 'Other', slug: id }).execute()
  return id
}

const addEndpoint = async (organizationId: string, over: { id?: string; sealedSecret?: string } = {}) => {
  const id = over.id ?? newUuid()
  const url = `https://hooks.example.com/${id}`
  const owner = { kind: 'organization', id: organizationId } as const
  const seal = () => server.controlPlane.sealer.seal(owner, secretPlace(id, 'sealed_secret'), 'secret')
  await insertEndpoint(db(), {
    id,
    organizationId,
    name: 'hook',
    url,
    events: ['dock.ready'],
    secretPrefix: 'whsec_xx',
    sealedSecret: over.sealedSecret ?? (await seal()),
    now: clock.now(),
  })
  return { id, url, organizationId }
}

const eventFor = ({ id, organizationId }: Endpoint) => ({
  endpoint_id: id,
  organization_id: organizationId,
  event_id: newUuid(),
  event: 'dock.ready' as const,
  occurred_at: clock.now(),
  dock_id: newUuid(),
  dock_state: 'ready' as const,
  workspace_id: newUuid(),
})
const enqueue = (endpoint: Endpoint) => saveDelivery(db(), eventFor(endpoint), clock.now())
const receivedBy = ({ url }: Endpoint) => server.receivers.received.filter((each) => each.url === url)
const attemptsOf = ({ id }: Endpoint) =>
  db().selectFrom('webhook_attempts').selectAll().where('endpoint_id', '=', id).execute()
const deliveryOf = ({ id }: Endpoint) =>
  db().selectFrom('webhook_deliveries').selectAll().where('endpoint_id', '=', id).executeTakeFirstOrThrow()

const silentLogger = () => {
  const logger = createLogger('test')
  logger.level = 'silent'
  return logger
}

const expectPrepareFailed = async (endpoint: Endpoint) => {
  await eventually(async () =>
    expect(await attemptsOf(endpoint)).toMatchObject([
      { status: null, error: expect.stringContaining('could not prepare'), finished_at: clock.now() },
    ]),
  )
  const { status, next_attempt_at: nextAt } = await deliveryOf(endpoint)
  expect([status, (nextAt.getTime() - clock.now().getTime()) / 1000]).toEqual(['pending', 30])
  expect(receivedBy(endpoint)).toEqual([])
}

it('a delivery whose secret cannot be opened is repeated like one without a response', async () => {
  const endpoint = await addEndpoint(server.admin.organizationId, { sealedSecret: 'not sealed' })
  await enqueue(endpoint)
  await expectPrepareFailed(endpoint)
})

it('a delivery whose body cannot be written is repeated so too, and holds up no other', async () => {
  const endpoint = await addEndpoint(server.admin.organizationId)
  await saveDelivery(db(), { ...eventFor(endpoint), workspace_id: null }, clock.now())
  await expectPrepareFailed(endpoint)
  await enqueue(endpoint)
  await eventually(() => expect(receivedBy(endpoint)).toHaveLength(1))
})

/** Adds endpoints of other organizations. Their ids come first in any order by id. */
const addEndpointsAhead = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
      return addEndpoint(await addOrganization(), { id })
    }),
  )

it('endpoints whose limit is reached delay no other, however many they are', async () => {
  const ahead = await addEndpointsAhead(120)
  const last = await addEndpoint(server.admin.organizationId)
  const now = clock.now()
  await db()
    .transaction()
    .execute(async (tx) => {
      for (const endpoint of [...ahead, last]) await saveDelivery(tx, eventFor(endpoint), now)
      await sql`insert into webhook_attempts (id, delivery_id, endpoint_id, event_id, event, started_at, finished_at)
        select gen_random_uuid(), d.id, d.endpoint_id, d.event_id, d.event, ${now}, ${now}
        from webhook_deliveries d, generate_series(1, 60) where d.endpoint_id <> ${last.id}`.execute(tx)
    })
  await eventually(() => expect(receivedBy(last)).toHaveLength(1))
  for (const endpoint of ahead) expect(receivedBy(endpoint)).toEqual([])
})

it('deliveries that were saved while a 410 disabled their endpoint delay no other and are never sent', async () => {
  const disabled = await addEndpointsAhead(60)
  await db().updateTable('webhook_endpoints').set({ disabled_at: clock.now() }).execute()
  for (const endpoint of disabled) await enqueue(endpoint)
  const last = await addEndpoint(server.admin.organizationId)
  await enqueue(last)
  await eventually(() => expect(receivedBy(last)).toHaveLength(1))
  const [first] = disabled
  await enableEndpointRow(db(), first!.organizationId, first!.id, clock.now())
  await enqueue(first!)
  await eventually(() => expect(receivedBy(first!)).toHaveLength(1))
  const rows = await db()
    .selectFrom('webhook_deliveries')
    .select('status')
    .where('endpoint_id', '=', first!.id)
    .execute()
  expect(rows.map(({ status }) => status).sort()).toEqual(['cancelled', 'sent'])
})

it('an organization has at most 32 requests in flight, and none of its endpoints waits for all others', async () => {
  const { organizationId } = server.admin
  const endpoints: Endpoint[] = []
  for (let index = 0; index < 10; index++) endpoints.push(await addEndpoint(organizationId))
  // After a response with 2xx an endpoint may get eight requests at once.
  for (const endpoint of endpoints) await enqueue(endpoint)
  for (const endpoint of endpoints) await eventually(() => expect(receivedBy(endpoint)).toHaveLength(1))
  await eventually(async () =>
    expect(
      await db().selectFrom('webhook_deliveries').select('id').where('status', '=', 'pending').execute(),
    ).toEqual([]),
  )
  const answers: (() => void)[] = []
  let inFlight = 0
  let inFlightMax = 0
  for (const endpoint of endpoints)
    server.receivers.respond(endpoint.url, () => {
      inFlightMax = Math.max(inFlightMax, ++inFlight)
      return new Promise((resolve) =>
        answers.push(() => {
          inFlight -= 1
          resolve(ok)
        }),
      )
    })
  await db()
    .transaction()
    .execute(async (tx) => {
      for (const endpoint of endpoints)
        for (let index = 0; index < 20; index++) await saveDelivery(tx, eventFor(endpoint), clock.now())
    })
  await eventually(() => expect(inFlight).toBe(32))
  const isServed = () => endpoints.every((endpoint) => receivedBy(endpoint).length > 1)
  for (let ended = 0; ended < 40 && !isServed(); ended++) {
    const before = server.receivers.received.length
    answers.shift()!()
    await eventually(() => expect(server.receivers.received.length).toBeGreaterThan(before))
  }
  expect(isServed()).toBe(true)
  expect(inFlightMax).toBe(32)
  while (inFlight > 0 || (await hasPending())) {
    for (const answer of answers.splice(0)) answer()
    await new Promise(setImmediate)
  }
})

const hasPending = async () =>
  (await db().selectFrom('webhook_deliveries').select('id').where('status', '=', 'pending').execute())
    .length > 0

it('sends nothing once its lease may end before the response', async () => {
  const endpoint = await addEndpoint(server.admin.organizationId)
  await server.controlPlane.stop()
  await enqueue(endpoint)
  const opener = server.controlPlane.sealer
  const slow: Sealer = {
    ...opener,
    open: async (...given) => {
      clock.advance(90_000)
      return opener.open(...given)
    },
  }
  const sender = createWebhookSender({
    db: db(),
    clock,
    logger: silentLogger(),
    sealer: slow,
    web: server.receivers,
  })
  sender.start()
  await eventually(async () =>
    expect((await attemptsOf(endpoint)).map(({ error }) => error)).toContainEqual(
      expect.stringContaining('too late'),
    ),
  )
  await sender.stop()
  expect(receivedBy(endpoint)).toEqual([])
})

it('a stop waits two seconds for a receiver that hangs, and sends the delivery again later', async () => {
  const endpoint = await addEndpoint(server.admin.organizationId)
  server.receivers.respond(endpoint.url, () => new Promise(() => undefined))
  await enqueue(endpoint)
  await eventually(() => expect(receivedBy(endpoint)).toHaveLength(1))
  let isStopped = false
  const stopped = server.controlPlane.stop().then(() => {
    isStopped = true
  })
  await eventually(async () => {
    clock.advance(100)
    await new Promise(setImmediate)
    expect(isStopped).toBe(true)
  })
  await stopped
  expect(await attemptsOf(endpoint)).toMatchObject([
    { status: null, error: expect.stringContaining('restarted'), finished_at: expect.any(Date) },
  ])
  expect(await deliveryOf(endpoint)).toMatchObject({ status: 'pending', attempts: 1 })
})
