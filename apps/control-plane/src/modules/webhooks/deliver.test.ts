import { createLogger, newUuid } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { saveDelivery } from './delivery-store.ts'
import { insertEndpoint, secretPlace } from './endpoint-store.ts'
import { attemptsKeptMax, closeLostAttempts, pruneDeliveries } from './prune-deliveries.ts'
import type { Receipt } from './public-web.ts'
import { createWebhookSender } from './webhook-sender.ts'

/** Repeats until the check holds. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000 })

let server: TestControlPlane
let clock: VirtualClock
const begin = async (): Promise<void> => {
  clock = createVirtualClock()
  server = await startTestControlPlane({ clock })
}
let isShared = false
beforeEach(async () => {
  if (!isShared) await begin()
})
afterEach(async () => {
  if (!isShared) await server.stop()
})
/** Lets the tests of a group share one server. Each needs an endpoint of its own, and may not advance the clock. */
const shareServer = (): void => {
  beforeAll(async () => {
    isShared = true
    await begin()
  })
  afterAll(async () => {
    isShared = false
    await server.stop()
  })
}

const db = () => server.database.db
const status = (code: number, retryAfterSeconds: number | null = null): Receipt => ({
  status: code,
  retryAfterSeconds,
  answer: '',
})

type Endpoint = { id: string; url: string; organizationId: string }

const addEndpoint = async (organizationId = server.admin.organizationId): Promise<Endpoint> => {
  const id = newUuid()
  const url = `https://hooks.example.com/${id}`
  const { sealer } = server.controlPlane
  const owner = { kind: 'organization', id: organizationId } as const
  await insertEndpoint(db(), {
    id,
    organizationId,
    name: 'hook',
    url,
    events: ['dock.ready'],
    secretPrefix: 'whsec_xx',
    sealedSecret: await sealer.seal(owner, secretPlace(id, 'sealed_secret'), 'secret'),
    now: clock.now(),
  })
  return { id, url, organizationId }
}

const enqueue = async ({ id, organizationId }: Endpoint, connection = db()): Promise<string> => {
  const event = {
    endpoint_id: id,
    organization_id: organizationId,
    event_id: newUuid(),
    event: 'dock.ready' as const,
    occurred_at: clock.now(),
    dock_id: newUuid(),
    dock_state: 'ready' as const,
    workspace_id: newUuid(),
  }
  await saveDelivery(connection, event, clock.now())
  return event.event_id
}

const receivedBy = ({ url }: Endpoint) => server.receivers.received.filter((each) => each.url === url)
const rowOf = ({ id }: Endpoint) =>
  db().selectFrom('webhook_deliveries').selectAll().where('endpoint_id', '=', id).executeTakeFirstOrThrow()
const attemptsOf = ({ id }: Endpoint) =>
  db()
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('endpoint_id', '=', id)
    .orderBy('started_at')
    .execute()

/** Waits until no request to the endpoint is under way and the number of completed requests is `count`. */
const waitForAttempts = (endpoint: Endpoint, count: number) =>
  eventually(async () => {
    const attempts = await attemptsOf(endpoint)
    expect(attempts.filter(({ finished_at }) => finished_at !== null)).toHaveLength(count)
    expect(attempts).toHaveLength(count)
  })

it('is tried 25 times, after 30 seconds doubling up to an hour, with one event id', async () => {
  const endpoint = await addEndpoint()
  server.receivers.respond(endpoint.url, () => status(503))
  const startMs = clock.now().getTime()
  const eventId = await enqueue(endpoint)
  const pausesSeconds = [30, 60, 120, 240, 480, 960, 1920, ...Array<number>(17).fill(3600)]
  await waitForAttempts(endpoint, 1)
  for (const [index, seconds] of pausesSeconds.entries()) {
    clock.advance(seconds * 1000 - 1)
    await server.database.db.selectFrom('webhook_endpoints').select('id').execute()
    expect(receivedBy(endpoint)).toHaveLength(index + 1)
    clock.advance(1)
    await waitForAttempts(endpoint, index + 2)
  }
  clock.advance(24 * 3_600_000)
  const attempts = await attemptsOf(endpoint)
  const expected = [0]
  for (const pause of pausesSeconds) expected.push(expected.at(-1)! + pause)
  expect(attempts.map(({ started_at }) => (started_at.getTime() - startMs) / 1000)).toEqual(expected)
  expect(new Set(attempts.map(({ event_id }) => event_id))).toEqual(new Set([eventId]))
  expect((await rowOf(endpoint)).status).toBe('failed')
  expect(receivedBy(endpoint)).toHaveLength(25)
})

describe.each([
  ['is sent', [200, 201, 204, 299], 'sent'],
  ['is final', [101, 300, 301, 304, 307, 400, 401, 403, 404, 409, 422, 451, 499], 'failed'],
  ['is retried', [408, 429, 500, 502, 503, 504, 599], 'pending'],
  ['is retried without a response', [null], 'pending'],
] as const)('a delivery', (outcome, codes, after) => {
  shareServer()
  it.each(codes)(`${outcome} after %s`, async (code) => {
    const endpoint = await addEndpoint()
    server.receivers.respond(endpoint.url, () =>
      code === null ? { status: null, error: 'The receiver did not respond in time.' } : status(code),
    )
    await enqueue(endpoint)
    await waitForAttempts(endpoint, 1)
    expect(await rowOf(endpoint)).toMatchObject({ status: after, attempts: 1 })
    const [attempt] = await attemptsOf(endpoint)
    expect(attempt!.status).toBe(code)
    expect(attempt!.error === null).toBe(after === 'sent')
    expect(attempt!.answer).toBe(code === null ? null : '')
  })
})

it('keeps the answer of a receiver, without the NUL that PostgreSQL refuses', async () => {
  const endpoint = await addEndpoint()
  server.receivers.respond(endpoint.url, () => ({
    status: 400,
    retryAfterSeconds: null,
    answer: 'no\0 such channel',
  }))
  await enqueue(endpoint)
  await waitForAttempts(endpoint, 1)
  expect(await attemptsOf(endpoint)).toMatchObject([{ status: 400, answer: 'no such channel' }])
})

it.each([
  [429, 600, 600],
  [503, 7200, 3600],
  [429, 5, 30],
  [500, 600, 30],
])('after %i with Retry-After %i waits %i seconds', async (code, retryAfter, waited) => {
  const endpoint = await addEndpoint()
  server.receivers.respond(endpoint.url, () => status(code, retryAfter))
  await enqueue(endpoint)
  await waitForAttempts(endpoint, 1)
  const { next_attempt_at: nextAt } = await rowOf(endpoint)
  expect((nextAt.getTime() - clock.now().getTime()) / 1000).toBe(waited)
})

it('after a 410 nothing is sent, not even what was waiting', async () => {
  const endpoint = await addEndpoint()
  server.receivers.respond(endpoint.url, () => status(503))
  await enqueue(endpoint)
  await waitForAttempts(endpoint, 1)
  server.receivers.respond(endpoint.url, () => status(410))
  // All three wait before the response to the first. A delivery that is saved after it stays pending until the endpoint is
  // enabled, which cancels it.
  const others = await db()
    .transaction()
    .execute((tx) => Promise.all([1, 2, 3].map(() => enqueue(endpoint, tx))))
  await waitForAttempts(endpoint, 2)
  clock.advance(3_600_000)
  const next = await addEndpoint()
  await enqueue(next)
  await waitForAttempts(next, 1)
  expect(receivedBy(endpoint)).toHaveLength(2)
  const rows = await db()
    .selectFrom('webhook_deliveries')
    .select('status')
    .where('endpoint_id', '=', endpoint.id)
    .where('event_id', 'in', others)
    .execute()
  expect(rows.map((row) => row.status).sort()).toEqual(['cancelled', 'cancelled', 'failed'])
})

it('a receiver gets at most 60 requests in any minute, and everything in the end', async () => {
  const endpoint = await addEndpoint()
  for (let index = 0; index < 150; index++) await enqueue(endpoint)
  for (const count of [60, 120, 150]) {
    await waitForAttempts(endpoint, count)
    clock.advance(60_000)
    expect(receivedBy(endpoint).length).toBeLessThanOrEqual(count)
    clock.advance(1)
  }
  const times = (await attemptsOf(endpoint)).map(({ started_at }) => started_at.getTime())
  for (const [index, time] of times.entries())
    expect(times.slice(index).filter((each) => each < time + 60_000).length).toBeLessThanOrEqual(60)
})

it('a receiver that hangs delays neither another organization nor another endpoint of its own', async () => {
  const hanging = await Promise.all([addEndpoint(), addEndpoint()])
  const release = Promise.withResolvers<Receipt>()
  for (const endpoint of hanging) {
    server.receivers.respond(endpoint.url, () => release.promise)
    for (let index = 0; index < 100; index++) await enqueue(endpoint)
  }
  const same = await addEndpoint()
  const { organizationId } = await otherOrganization()
  const other = await addEndpoint(organizationId)
  for (const endpoint of [same, other]) {
    await enqueue(endpoint)
    await waitForAttempts(endpoint, 1)
  }
  for (const endpoint of hanging) expect(receivedBy(endpoint)).toHaveLength(1)
  release.resolve(status(400))
})

const otherOrganization = async (): Promise<{ organizationId: string }> => {
  const organizationId = newUuid()
  await db()
    .insertInto('organizations')
    .values({ id: organizationId, name: 'Other', slug: organizationId })
    .execute()
  return { organizationId }
}

it('is sent again, and the request is listed as lost, if the process dies while it waits for the response', async () => {
  const endpoint = await addEndpoint()
  const never = Promise.withResolvers<Receipt>()
  server.receivers.respond(endpoint.url, () => never.promise)
  const eventId = await enqueue(endpoint)
  await eventually(() => expect(receivedBy(endpoint)).toHaveLength(1))
  // What a killed process leaves is what this one leaves: the claimed row and an unfinished request.
  const logger = createLogger('test')
  logger.level = 'silent'
  server.receivers.respond(endpoint.url, () => status(200))
  const sender = createWebhookSender({
    db: db(),
    clock,
    logger,
    sealer: server.controlPlane.sealer,
    web: server.receivers,
  })
  sender.start()
  clock.advance(19_000)
  await db().selectFrom('webhook_endpoints').select('id').execute()
  expect(receivedBy(endpoint)).toHaveLength(1)
  clock.advance(1_001)
  await eventually(async () => expect((await rowOf(endpoint)).status).toBe('sent'))
  await closeLostAttempts({ db: db(), clock })
  const attempts = await attemptsOf(endpoint)
  expect(attempts).toMatchObject([
    { event_id: eventId, status: null, error: expect.stringContaining('repeated') },
    { event_id: eventId, status: 200, error: null },
  ])
  // The response that arrives late changes nothing.
  never.resolve(status(410))
  await sender.stop()
  expect((await rowOf(endpoint)).status).toBe('sent')
})

it('counts as sent if the receiver accepted it, although that was recorded after the next attempt had begun', async () => {
  const endpoint = await addEndpoint()
  const late = Promise.withResolvers<Receipt>()
  server.receivers.respond(endpoint.url, () => late.promise)
  await enqueue(endpoint)
  await eventually(() => expect(receivedBy(endpoint)).toHaveLength(1))
  const again = Promise.withResolvers<Receipt>()
  server.receivers.respond(endpoint.url, () => again.promise)
  const logger = createLogger('test')
  const { sealer } = server.controlPlane
  const other = createWebhookSender({ db: db(), clock, logger, sealer, web: server.receivers })
  clock.advance(20_001)
  other.start()
  await eventually(() => expect(receivedBy(endpoint)).toHaveLength(2))
  late.resolve(status(200))
  await eventually(async () => expect((await rowOf(endpoint)).status).toBe('sent'))
  again.resolve(status(500))
  await other.stop()
  expect((await rowOf(endpoint)).status).toBe('sent')
})

it.each(['before', 'after'])(
  'is not tried a 26th time if the process dies during the 25th request, seen %s the next claim',
  async (seen) => {
    await server.controlPlane.stop()
    const endpoint = await addEndpoint()
    await enqueue(endpoint)
    const { id, event_id: eventId } = await rowOf(endpoint)
    await db().updateTable('webhook_deliveries').set({ attempts: 25, next_attempt_at: clock.now() }).execute()
    await db()
      .insertInto('webhook_attempts')
      .values({
        id: newUuid(),
        delivery_id: id,
        endpoint_id: endpoint.id,
        event_id: eventId,
        event: 'dock.ready',
        started_at: new Date(clock.now().getTime() - 21_000),
      })
      .execute()
    if (seen === 'before') await closeLostAttempts({ db: db(), clock })
    const logger = createLogger('test')
    const { sealer } = server.controlPlane
    const sender = createWebhookSender({ db: db(), clock, logger, sealer, web: server.receivers })
    sender.start()
    const next = await enqueue(endpoint)
    sender.wake()
    await eventually(() => expect(receivedBy(endpoint)).not.toEqual([]))
    await sender.stop()
    expect(receivedBy(endpoint).map(({ body }) => JSON.parse(body).id)).toEqual([next])
    await closeLostAttempts({ db: db(), clock })
    const row = db().selectFrom('webhook_deliveries').selectAll().where('id', '=', id)
    expect(await row.executeTakeFirstOrThrow()).toMatchObject({ status: 'failed', attempts: 25 })
    expect((await attemptsOf(endpoint))[0]).toMatchObject({
      error: 'Dock was restarted before the receiver responded.',
    })
  },
)

it('keeps a bounded number of requests, and forgets what belongs to removed endpoints', async () => {
  const endpoint = await addEndpoint()
  const removed = await addEndpoint()
  await enqueue(endpoint)
  await enqueue(removed)
  await waitForAttempts(endpoint, 1)
  await waitForAttempts(removed, 1)
  const { id: deliveryId, event_id: eventId } = await rowOf(endpoint)
  const now = clock.now()
  await db()
    .insertInto('webhook_attempts')
    .values(
      Array.from({ length: attemptsKeptMax + 20 }, () => ({
        id: newUuid(),
        delivery_id: deliveryId,
        endpoint_id: endpoint.id,
        event_id: eventId,
        event: 'dock.ready' as const,
        status: 200,
        error: null,
        started_at: now,
        finished_at: now,
      })),
    )
    .execute()
  await db().deleteFrom('webhook_endpoints').where('id', '=', removed.id).execute()
  await pruneDeliveries({ db: db(), clock })
  expect(await attemptsOf(endpoint)).toHaveLength(attemptsKeptMax)
  expect(await attemptsOf(removed)).toEqual([])
})
