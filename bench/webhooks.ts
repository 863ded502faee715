/**
 * script/bench webhooks [PART …]: latency from an event to its receipt, how many deliveries a second the engine sends
 * while no limit is reached, and what 1,000 pending deliveries cost a create from the warm pool.
 */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type DatabaseConnection, openDatabase } from '@dock/control-plane/database'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { databaseOf } from '../tests/crash/scan.ts'
import { createDock, deleteDock, run } from '../tests/e2e/support/dock.ts'
import { signIn } from '../tests/e2e/support/session.ts'
import { writeEvent } from '../tests/prove/webhooks/write-events.ts'
import { compare, sample } from './figures.ts'
import { type BenchServer, print, usualSize, waitForWarmSandboxes, withServer } from './parts/bench-server.ts'
import { untilIdle } from './parts/until-idle.ts'

const setting = { DOCK_ALLOW_INSECURE_WEBHOOKS: 'loopback', DOCK_LIMIT_ORGANIZATIONS: '1000' }

type Receiver = {
  url(name: string): string
  count(): number
  untilReceived(eventId: string): Promise<void>
  close(): Promise<void>
}

const startReceiver = async (respond: (response: ServerResponse) => void): Promise<Receiver> => {
  let received = 0
  const waiting = new Map<string, () => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received += 1
      const { id } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: string }
      waiting.get(id)?.()
      waiting.set(id, () => undefined)
      respond(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    count: () => received,
    untilReceived: (eventId) =>
      waiting.has(eventId) ? Promise.resolve() : new Promise((resolve) => void waiting.set(eventId, resolve)),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const ok = (response: ServerResponse): void => void response.writeHead(204).end()

const addEndpoints = async (
  server: BenchServer,
  receiver: Receiver,
  organizations: number,
  endpoints: number,
): Promise<string[]> => {
  const ask = await signIn(server.admin)
  const organizationIds: string[] = []
  for (let index = 0; index < organizations; index++) {
    const { id: organizationId } = await ask<{ id: string }>('POST', '/v1/organizations', {
      name: `Bench ${index}`,
    })
    organizationIds.push(organizationId)
    for (let number = 0; number < endpoints; number++)
      await ask('POST', '/v1/webhooks/endpoints', {
        organizationId,
        name: `${index}-${number}`,
        url: receiver.url(`${index}-${number}`),
        events: ['dock.ready'],
      })
  }
  return organizationIds
}

const withDatabase = async (server: BenchServer, work: (database: DatabaseConnection) => Promise<void>) => {
  const database = openDatabase({ url: databaseOf(server.dataDir), maxConnections: 2 })
  await work(database)
  await database.close()
}

const benchLatency = (): Promise<void> =>
  withServer({ ...setting, DOCK_EMBEDDED_HOST: 'off' }, async (server) => {
    const receiver = await startReceiver(ok)
    const organizationIds = await addEndpoints(server, receiver, 20, 1)
    await withDatabase(server, async ({ db }) => {
      const figure = await sample(
        'event to receipt',
        500,
        async (index) => {
          const event = await writeEvent(db, organizationIds[index % organizationIds.length]!)
          if (!event) throw new Error('the event was not written')
          await receiver.untilReceived(event.id)
        },
        20,
      )
      print(compare(figure, undefined))
    })
    await receiver.close()
  })

/** Below the 60 a minute of an endpoint, so that the limit holds nothing back. */
const deliveriesPerEndpoint = 50

const benchThroughput = (): Promise<void> =>
  withServer({ ...setting, DOCK_EMBEDDED_HOST: 'off' }, async (server) => {
    const receiver = await startReceiver(ok)
    await addEndpoints(server, receiver, 40, 10)
    await withDatabase(server, async ({ db }) => {
      const expected = 40 * 10 * deliveriesPerEndpoint
      const begin = performance.now()
      await sql`insert into webhook_deliveries (id, endpoint_id, organization_id, event_id, event, occurred_at, dock_id,
          dock_state, workspace_id, next_attempt_at, created_at)
        select gen_random_uuid(), e.id, e.organization_id, gen_random_uuid(), 'dock.ready', now(), gen_random_uuid(),
          'ready', gen_random_uuid(), now(), now()
        from webhook_endpoints e, generate_series(1, ${deliveriesPerEndpoint})`.execute(db)
      while (receiver.count() < expected) await delay(50)
      const seconds = (performance.now() - begin) / 1000
      print(`${expected} deliveries to 400 endpoints: ${Math.round(expected / seconds)} a second`)
    })
    await receiver.close()
  })

const benchCreates = (): Promise<void> =>
  withServer({ ...setting, DOCK_WARM_POOL: '16' }, async (server) => {
    const receiver = await startReceiver((response) => void response.writeHead(500).end())
    const creates = async (name: string) => {
      const figure = await sample(name, 25, async () => undefined)
      figure.samplesMs.length = 0
      for (let index = 0; index < 25; index++) {
        await waitForWarmSandboxes(server, 16)
        await untilIdle()
        const begin = performance.now()
        const { id } = await createDock(server, usualSize)
        await run(server, id, 'echo ready')
        figure.samplesMs.push(performance.now() - begin)
        await deleteDock(server, id)
      }
      print(compare(figure, undefined))
    }
    await creates('warm tti, no endpoint')
    const ask = await signIn(server.admin)
    const { organizationId } = server.admin
    const { id } = await ask<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      organizationId,
      name: 'failing',
      url: receiver.url('failing'),
      events: ['dock.ready', 'dock.archived'],
    })
    await withDatabase(server, async ({ db }) => {
      for (let index = 0; index < 1_000; index++)
        await sql`insert into webhook_deliveries (id, endpoint_id, organization_id, event_id, event, occurred_at, dock_id,
            dock_state, workspace_id, next_attempt_at, created_at)
          values (${newUuid()}, ${id}, ${organizationId}, ${newUuid()}, 'dock.ready', now(), ${newUuid()}, 'ready',
            ${newUuid()}, now(), now())`.execute(db)
    })
    await creates('warm tti, 1,000 pending deliveries')
    await ask('DELETE', `/v1/webhooks/endpoints/${id}?organizationId=${organizationId}`)
    await creates('warm tti, endpoint removed')
    await receiver.close()
  })

const parts = { latency: benchLatency, throughput: benchThroughput, creates: benchCreates }
const isPart = (name: string): name is keyof typeof parts => name in parts
const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !isPart(name))
if (unknown !== undefined)
  throw new Error(`there is no part ${unknown}; parts: ${Object.keys(parts).join(', ')}`)
for (const [name, bench] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  print(`== ${name}`)
  await bench()
}
