/** One of the two servers that are compared: where it lies, how it is started, and what is asked of it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../../tests/e2e/support/server.ts'
import { imageCache, withoutLimits } from '../parts/bench-server.ts'
import { findServerProcesses, listProcesses, type ServerProcesses } from '../parts/server-processes.ts'
import { loadCounter, openCounter, type StatementCounter } from './costs.ts'
import { openRawClient, type RawClient } from './raw-client.ts'

/** A data folder of one version of Dock. `counts`: its PostgreSQL counts statements from the second start. */
export type Place = { name: 'base' | 'now'; checkout: string; dataDir: string; port: number; counts: boolean }

export type Side = Place & {
  server: Server
  client: RawClient
  processes: ServerProcesses
  counter: StatementCounter | undefined
  /** From the start of `script/server` until it says that Dock is ready. */
  startMs: number
  /** The Docks of this round. */
  docks: string[]
}

const start = (place: Place, warmPool: number): Promise<Server> =>
  startServer(
    place.dataDir,
    place.port,
    { ...withoutLimits, DOCK_IMAGE_CACHE: imageCache(), DOCK_WARM_POOL: String(warmPool) },
    place.checkout,
  )

export async function newPlace(name: Place['name'], checkout: string): Promise<Place> {
  return { name, checkout, dataDir: await newDataDir(), port: await freePort(), counts: false }
}

/** Fills a place with image and database, and deletes the Dock of the first start. This start is not measured. */
export async function preparePlace(place: Place): Promise<void> {
  const side = await startSide(place, 0)
  try {
    for (const { id } of await side.client.call<Dock[]>('GET', '/v1/docks?all=true'))
      await deleteDock(side, id)
    place.counts = await loadCounter(place.dataDir)
  } finally {
    await stopSide(side)
  }
}

export async function startSide(place: Place, warmPool: number): Promise<Side> {
  const begin = performance.now()
  const server = await start(place, warmPool)
  const startMs = performance.now() - begin
  const processes = findServerProcesses(await listProcesses(), server.pid)
  const { baseUrl, apiKey } = JSON.parse(await readFile(join(place.dataDir, 'admin.json'), 'utf8')) as {
    baseUrl: string
    apiKey: string
  }
  const counter = place.counts ? await openCounter(place.dataDir) : undefined
  return { ...place, server, processes, counter, startMs, client: openRawClient(baseUrl, apiKey), docks: [] }
}

export async function stopSide({ server, client, counter }: Side): Promise<void> {
  client.close()
  await counter?.close()
  await server.interrupt()
}

export function removePlace({ dataDir }: Place): Promise<void> {
  return removeDataDir(dataDir)
}

type Dock = { id: string }

export function createDock({ client, server }: Side, size: object): Promise<Dock> {
  return client.call('POST', '/v1/docks', { workspaceId: server.admin.workspaceId, ...size })
}

/** Runs a command that must succeed. */
export async function exec({ client }: Side, id: string, command: string, key?: string): Promise<void> {
  const headers = key === undefined ? undefined : { 'idempotency-key': key }
  const result = await client.call<{ exitCode: number }>('POST', `/v1/docks/${id}/exec`, { command }, headers)
  if (result.exitCode !== 0) throw new Error(`${command}: ${JSON.stringify(result)}`)
}

const pollMs = 10

/** Deletes a Dock and waits until that is completed. */
export async function deleteDock({ client }: Side, id: string): Promise<void> {
  const confirmed = { 'x-confirm-delete': id }
  const { operation } = await client.call<{ operation: Dock }>(
    'DELETE',
    `/v1/docks/${id}`,
    undefined,
    confirmed,
  )
  const path = `/v1/operations/${operation.id}`
  while ((await client.call<{ status: string }>('GET', path)).status !== 'completed') await delay(pollMs)
}
