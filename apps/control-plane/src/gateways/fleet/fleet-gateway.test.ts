import { Readable } from 'node:stream'
import { systemClock } from '@dock/foundation'
import type { AgentLink, RequestOptions } from '@dock/host-protocol'
import { expect, it } from 'vitest'
import { HostNotLinked } from '../../modules/hosts/index.ts'
import { createFleetGateway } from './fleet-gateway.ts'

/** The longest time that the runtime takes to kill a command's process tree (`endingMs` of runtime-gvisor). */
const endingMs = 30_000

it('waits for a timed-out command until the runtime has had time to kill it', async () => {
  const asked: RequestOptions[] = []
  const outcome = { exitCode: 137, timedOut: true }
  const result = { ...outcome, stdout: '', stderr: '', durationMs: 1000, truncated: false }
  const link = {
    isClosed: false,
    onClose: () => undefined,
    request: async (_method: string, path: string, options: RequestOptions) => {
      asked.push(options)
      const answer = path.endsWith('/setup') ? { ...outcome, output: '' } : result
      return { status: 200, body: Buffer.from(JSON.stringify(answer)), json: () => answer }
    },
  } as unknown as AgentLink
  const gateway = createFleetGateway(systemClock, () => 0)
  gateway.attach('host', 'control', link)
  const command = {
    generation: 1,
    command: 'sleep 9',
    cwd: '/',
    env: {},
    timeoutMs: 1000,
    outputLimitBytes: 1,
  }
  expect((await gateway.exec({ hostId: 'host', dockId: 'dock' }, command)).timedOut).toBe(true)
  await gateway.setup(
    { hostId: 'host', dockId: 'dock' },
    { operationId: 'o', generation: 1, script: '', timeoutMs: 1000 },
  )
  expect(asked).toHaveLength(2)
  for (const { timeoutMs } of asked) expect(timeoutMs).toBeGreaterThan(1000 + endingMs)
})

it('holds orders back until the first inventory over a link is handled, and sends the epoch with them', async () => {
  const asked: unknown[] = []
  const link = {
    isClosed: false,
    onClose: () => undefined,
    request: async (_method: string, _path: string, { body }: RequestOptions) => {
      asked.push(body)
      return { status: 200, body: Buffer.from('{}'), json: () => ({}) }
    },
  } as unknown as AgentLink
  const gateway = createFleetGateway(systemClock, () => 3)
  gateway.attach('host', 'control', link)
  const ordered = gateway.destroy({ hostId: 'host', dockId: 'dock' }, { operationId: 'o', generation: 1 })
  await gateway.keepWarmPool({ hostId: 'host' }, { kind: null })
  expect(asked).toEqual([{ kind: null }])
  gateway.releaseOrders('host')
  await ordered
  expect(asked.at(-1)).toEqual({ operationId: 'o', generation: 1, epoch: 3 })
})

it('rejects calls for the processes of a host without a link, and throws none', async () => {
  const gateway = createFleetGateway(systemClock, () => 0)
  const place = { hostId: 'host', dockId: 'dock', processId: 'process' }
  const start = { processId: 'process', generation: 1, command: 'true', env: {}, stdin: false }
  const calls = [
    gateway.startKept({ hostId: 'host', dockId: 'dock' }, start),
    gateway.listKept({ hostId: 'host', dockId: 'dock' }),
    gateway.readKept(place),
    gateway.waitForKept(place, { ms: 1 }),
    gateway.signalKept(place, { signal: 'TERM', target: 'group' }),
    gateway.resizeKept(place, { cols: 80, rows: 24 }),
    gateway.closeKeptInput(place),
    gateway.openKeptOutput({ ...place, stream: 'stdout' }, { offset: 0, follow: true }),
    gateway.writeKeptInput(place, { offset: 0 }, Readable.from([])),
  ]
  for (const outcome of await Promise.allSettled(calls))
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(HostNotLinked) })
})
