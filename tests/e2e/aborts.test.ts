/** Clients that break off, half-close and reset: a sample of script/prove aborts, which makes 20,000 such attempts. */
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { allTargets } from '../prove/aborts/all-targets.ts'
import { fuzzAborts } from '../prove/aborts/fuzz.ts'
import {
  type Logs,
  type Processes,
  processesOf,
  tryEverything,
  watchLogs,
} from '../prove/aborts/soundness.ts'
import { uncoveredRoutes } from '../prove/aborts/target.ts'
import { prepareWorld } from '../prove/aborts/world.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
let world: Awaited<ReturnType<typeof prepareWorld>>
let processes: Processes
let logs: Logs

beforeAll(async () => {
  const { ssh } = await server.client.call('readConfig', {})
  world = await prepareWorld(server, { machines: 1, sshPort: ssh?.port ?? null })
  processes = await processesOf(world)
  logs = await watchLogs(server.dataDir)
})
afterAll(() => world?.close())

const attempt = { count: 300, seed: 1, atOnce: 12 }
/** These take long, or count against limits that other tests share. */
const rare = new Set(['terminal', 'SSH connection', 'SSH channel', 'snapshot tree', 'snapshot download'])
const targets = allTargets.map((each) => (rare.has(each.name) ? { ...each, weight: each.weight / 3 } : each))

it('has a target for every raw, streamed and upgraded route of the contract', () => {
  expect(uncoveredRoutes(allTargets)).toEqual([])
})

it('ends no process, gets no attempt stuck, and logs no error', async () => {
  const report = await fuzzAborts({ world, targets, ...attempt, isOver: () => false })
  expect(await processesOf(world)).toEqual(processes)
  expect(await logs.errors()).toEqual([])
  expect(report.wrong).toEqual([])
  expect(report.begun / report.sent).toBeGreaterThan(0.5)
})

it('leaves everything working', async () => {
  for (const [what, works, why] of await tryEverything(world))
    expect([what, works, why]).toEqual([what, true, ''])
})

it('takes no place at a port for visitors that left before they read anything', async () => {
  const { portHost } = world.machines[0]!
  const openFiles = async (): Promise<number> =>
    (await readdir(`/proc/${processes['control plane']}/fd`)).length
  const before = await openFiles()
  const upgrade = `GET /bytes/20000 HTTP/1.1\r\nHost: ${portHost}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
  for (let visit = 0; visit < 60; visit++) {
    const visitor = connect({ port: world.port, host: '127.0.0.1' }).on('error', () => undefined)
    visitor.write(upgrade)
    // They leave at different moments.
    await delay(visit % 6)
    visitor.destroy()
  }
  // Idle connections of pools come and go.
  await expect.poll(openFiles).toBeLessThan(before + 10)
})
