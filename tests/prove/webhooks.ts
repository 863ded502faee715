/**
 * script/prove webhooks [EVENTS]: 20 organizations with 10 endpoints each and 30 events a minute. A fifth of the
 * endpoints hangs, a fifth fails, one in twenty is gone. The control plane and PostgreSQL are killed 20 times. No event
 * is lost, healthy endpoints are served as fast as in quiet, and no endpoint gets more than 60 requests a minute.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '@dock/control-plane/database'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { processOf, type Victim } from '../crash/processes.ts'
import { databaseOf } from '../crash/scan.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'
import { signIn } from '../e2e/support/session.ts'
import { type Kind, startReceivers } from './webhooks/receivers.ts'
import { type WrittenEvent, writeEvent } from './webhooks/write-events.ts'

const organizationCount = 20
const endpointsPerOrganization = 10
const eventsPerMinute = 30
const quietMs = 60_000
/** After a kill, figures of speed do not count for this long. */
const recoveryMs = 10_000
const kindOf = (index: number): Kind => (index < 2 ? 'hanging' : index < 4 ? 'failing' : 'healthy')

const events = Number(process.argv[2] ?? 10_000)
/** 20 for 10,000 events: one in 48 seconds. */
const kills = Math.round(events / 500)
const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const failures: string[] = []
const expect = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failures.push(what)
}

const port = await freePort()
const server = await startServer(await newDataDir(), port, {
  DOCK_EMBEDDED_HOST: 'off',
  DOCK_ALLOW_INSECURE_WEBHOOKS: 'loopback',
  DOCK_LIMIT_ORGANIZATIONS: '1000',
})
const receivers = await startReceivers()
const ask = await signIn(server.admin)

type Endpoint = { name: string; kind: Kind; organizationId: string; id: string }
const endpoints: Endpoint[] = []
const organizationIds: string[] = []
for (let index = 0; index < organizationCount; index++) {
  const { id: organizationId } = await ask<{ id: string }>('POST', '/v1/organizations', {
    name: `Proof ${index}`,
  })
  organizationIds.push(organizationId)
  for (let number = 0; number < endpointsPerOrganization; number++) {
    const isGone = number === 9 && index % 2 === 0
    const [name, kind] = [`${index}-${number}`, isGone ? 'gone' : kindOf(number)] as const
    receivers.add(name, kind)
    const { id, secret } = await ask<{ id: string; secret: string }>('POST', '/v1/webhooks/endpoints', {
      organizationId,
      name,
      url: receivers.url(name),
      events: ['dock.ready'],
    })
    receivers.setSecret(name, secret)
    endpoints.push({ name, kind, organizationId, id })
  }
}
const ofKind = (kind: Kind) => endpoints.filter((endpoint) => endpoint.kind === kind)

const database = openDatabase({
  url: databaseOf(server.dataDir),
  maxConnections: 10,
  onIdleError: () => undefined,
})
const written: WrittenEvent[] = []
let unconfirmed = 0
/** Writes events of all organizations at their rate until `isOver`. */
const writeUntil = async (isOver: () => boolean): Promise<void> => {
  const pauseMs = 60_000 / eventsPerMinute
  await Promise.all(
    organizationIds.map(async (organizationId, index) => {
      await delay((index * pauseMs) / organizationCount)
      while (!isOver()) {
        const began = Date.now()
        const event = await writeEvent(database.db, organizationId)
        if (event) written.push(event)
        else unconfirmed += 1
        await delay(Math.max(0, pauseMs - (Date.now() - began)))
      }
    }),
  )
}

const quietUntil = Date.now() + quietMs
await writeUntil(() => Date.now() > quietUntil)
await delay(5_000)
const quietEvents = [...written]

receivers.beginFaults()
const killedAt: number[] = []
let isOver = false
const target = quietEvents.length + events
const killing = (async () => {
  const everyMs = (events / (organizationCount * eventsPerMinute)) * (60_000 / (kills + 1))
  for (let kill = 0; kill < kills && !isOver; kill++) {
    await delay(everyMs)
    const victim: Victim = kill % 2 === 0 ? 'control-plane' : 'database'
    const pid = await processOf(victim, { dataDir: server.dataDir, port })
    if (pid === null) continue
    killedAt.push(Date.now())
    process.kill(pid, 'SIGKILL')
  }
})()
await writeUntil(() => written.length >= target)
isOver = true
await killing

const receivedBy = (endpoint: Endpoint) =>
  new Map(
    receivers
      .arrivalsAt(endpoint.name)
      .toReversed()
      .map(({ eventId, atMs }) => [eventId, atMs] as const),
  )
const eventsOf = (endpoint: Endpoint, list: readonly WrittenEvent[]) =>
  list.filter(({ organizationId }) => organizationId === endpoint.organizationId)
const missing = (): number =>
  ofKind('healthy').reduce((sum, endpoint) => {
    const received = receivedBy(endpoint)
    return sum + eventsOf(endpoint, written).filter(({ id }) => !received.has(id)).length
  }, 0)
const drainUntil = Date.now() + 120_000
while (missing() > 0 && Date.now() < drainUntil) await delay(1_000)

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
  Number.NaN
const latencies = (list: readonly WrittenEvent[]): number[] =>
  ofKind('healthy').flatMap((endpoint) => {
    const received = receivedBy(endpoint)
    return eventsOf(endpoint, list).flatMap(({ id, atMs }) => {
      const arrivedMs = received.get(id)
      return arrivedMs === undefined ? [] : [arrivedMs - atMs]
    })
  })
const isCalm = ({ atMs }: WrittenEvent): boolean =>
  !killedAt.some((killMs) => atMs > killMs - 1_000 && atMs < killMs + recoveryMs)
const stormy = written.slice(quietEvents.length)
const [quietP95, stormP95] = [
  percentile(latencies(quietEvents), 0.95),
  percentile(latencies(stormy.filter(isCalm)), 0.95),
]
const most = Math.max(
  ...endpoints.map(({ name }) => {
    const times = receivers.arrivalsAt(name).map(({ atMs }) => atMs)
    let first = 0
    return Math.max(
      0,
      ...times.map((time, index) => {
        while (times[first]! <= time - 60_000) first += 1
        return index - first + 1
      }),
    )
  }),
)
const afterGone = ofKind('gone').map(({ name }) => {
  const goneMs = receivers.goneAt(name)
  return receivers.arrivalsAt(name).filter(({ atMs }) => goneMs !== undefined && atMs > goneMs).length
})
const unsigned = endpoints
  .flatMap(({ name }) => receivers.arrivalsAt(name))
  .filter(({ isSigned }) => !isSigned)
const arrivals = endpoints.reduce((sum, { name }) => sum + receivers.arrivalsAt(name).length, 0)

print(
  `${written.length} events, ${unconfirmed} not confirmed, ${arrivals} requests, ${killedAt.length} kills`,
)
print(
  `healthy endpoints: quiet p50 ${percentile(latencies(quietEvents), 0.5)} p95 ${quietP95} ms; with faults p50 ${percentile(latencies(stormy.filter(isCalm)), 0.5)} p95 ${stormP95} ms`,
)
expect(killedAt.length === kills, `${kills} kills of control plane and PostgreSQL`)
expect(missing() === 0, 'every event reached every healthy endpoint')
expect(unsigned.length === 0, 'every request was signed with the secret of its endpoint')
expect(
  stormP95 <= 2 * quietP95,
  'p95 of healthy endpoints is within twice that in quiet, outside 10 s after a kill',
)
expect(most <= 60, `no endpoint got more than 60 requests in 60 seconds (the most: ${most})`)
expect(
  ofKind('gone').every(({ name }) => receivers.goneAt(name) !== undefined) &&
    afterGone.every((count) => count === 0),
  'nothing was sent to an endpoint after its 410',
)
for (const kind of ['hanging', 'failing'] as const)
  expect(
    ofKind(kind).every(({ name }) => receivers.arrivalsAt(name).length > 0),
    `${kind} endpoints were tried`,
  )

await database.close()
await receivers.close()
await server.interrupt()
await removeDataDir(server.dataDir)
if (failures.length > 0) process.exit(1)
