import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { newOperationId, newUuid } from '@dock/foundation'
import type { KeptProcess, StartKeptProcess } from '@dock/host-protocol'
import { StreamsLost } from '@dock/runtime'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Agent } from '../../agent.ts'
import { ProcessKeeper } from './process-keeper.ts'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let agent: Agent
const dockId = newUuid()

beforeEach(async () => {
  host = await createMemoryHost({ warmPoolSize: 0 })
  agent = host.agent
  await dock().start(startCommand())
})
afterEach(async () => {
  await agent.shutdown()
  await host.remove()
})

const dock = () => agent.docks.getForCommand(dockId)
const start = (command: string, change: Partial<StartKeptProcess> = {}): Promise<KeptProcess> =>
  dock().kept.start({ processId: newUuid(), generation: 1, command, env: {}, stdin: false, ...change })
const pathOf = ({ processId }: KeptProcess, rest: string) => `/docks/${dockId}/kept/${processId}/${rest}`
const output = async (process: KeptProcess, offset = 0, by = agent): Promise<string> => {
  const response = await by.app.request(pathOf(process, `output/stdout?offset=${offset}&follow=true`))
  return response.text()
}
const ended = ({ processId }: KeptProcess) => dock().kept.wait(processId, 60_000)
const running = () => dock().report()?.processes

it('runs a process whose output can be read after its end', async () => {
  const started = await start('echo out; echo err >&2; exit 3')
  expect(await ended(started)).toMatchObject({
    command: 'echo out; echo err >&2; exit 3',
    end: { exitCode: 3, signal: null, reason: 'exited' },
  })
  expect(await output(started)).toBe('out\n')
  expect(await dock().kept.list()).toHaveLength(1)
  expect(running()).toBe(0)
})

it.each([
  ['it', 'kill -KILL $$', { exitCode: null, signal: 'KILL' }],
  ['a process that it had started', 'exit 2', { exitCode: 2, signal: null }],
])('tells that %s was ended for memory', async (_, command, end) => {
  const { openProcess } = host.driver
  host.driver.openProcess = async (...args) => {
    const opened = await openProcess(...args)
    return { ...opened, exited: opened.exited.then((exit) => ({ ...exit, killedForMemory: ['cc1'] })) }
  }
  const started = await start(command)
  expect((await ended(started)).end).toMatchObject({ ...end, reason: 'out_of_memory' })
})

it('tells that the streams of a process were lost, also to another agent', async () => {
  const { openProcess } = host.driver
  const lost = new StreamsLost('the pump has died')
  host.driver.openProcess = async (...args) => ({
    ...(await openProcess(...args)),
    exited: Promise.reject(lost),
  })
  const started = await start('sleep 60')
  expect((await ended(started)).end).toMatchObject({ exitCode: null, signal: null, reason: 'keeper_lost' })
  host.driver.openProcess = openProcess
  const adopted = await start('sleep 60')
  host.driver.failNext('waitForExec', lost)
  agent = await host.startAgent()
  expect((await ended(adopted)).end).toMatchObject({ reason: 'keeper_lost' })
})

it('starts a process once, whatever is repeated', async () => {
  const processId = newUuid()
  const [first, second] = [await start('cat', { processId, stdin: true }), await start('cat', { processId })]
  expect(second.startedAt).toBe(first.startedAt)
  expect(await dock().kept.list()).toHaveLength(1)
})

it('that is not started rejects its caller only, also if its removal fails', async () => {
  const processId = newUuid()
  const record = join(dirname(host.handlesFolder), 'processes', 'records', dockId, `${processId}.json`)
  // A folder is neither replaced by a file nor removed like one.
  await mkdir(record, { recursive: true })
  const { create, remove } = ProcessKeeper.prototype
  // No spies: they listen to the promises of what they replace.
  const reset = async () => {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  }
  Object.assign(ProcessKeeper.prototype, { create: reset, remove: reset })
  const uncaught = await uncaughtDuring(() =>
    expect(start('true', { processId })).rejects.toThrow('ECONNRESET'),
  ).finally(() => Object.assign(ProcessKeeper.prototype, { create, remove }))
  expect(uncaught).toEqual([])
  expect(await dock().kept.list()).toEqual([])
})

it('is started again on request if an agent died while it started it', async () => {
  const { openProcess } = host.driver
  let isOpening = () => {}
  const opening = new Promise<void>((resolve) => {
    isOpening = resolve
  })
  host.driver.openProcess = () => {
    isOpening()
    return new Promise(() => undefined)
  }
  const processId = newUuid()
  void start('echo done', { processId })
  await opening
  host.driver.openProcess = openProcess
  agent = await host.startAgent()
  expect(await start('echo done', { processId })).toMatchObject({ end: { reason: 'lost' } })
  const again = () => start('echo done', { processId, startLostAgain: true })
  const [first, second] = await Promise.all([again(), again()])
  expect(second.startedAt).toBe(first.startedAt)
  expect((await ended(first)).end).toMatchObject({ exitCode: 0, reason: 'exited' })
  expect(await output(first)).toBe('done\n')
  expect(await again()).toMatchObject({ end: { exitCode: 0 } })
  expect(await dock().kept.list()).toHaveLength(1)
})

it('runs on under another agent, and no byte is lost or repeated', async () => {
  const started = await start('for i in {1..100}; do echo $i; sleep 0.02; done; exit 7')
  const response = await agent.app.request(pathOf(started, 'output/stdout?offset=0&follow=true'))
  const reader = response.body!.getReader()
  const first = Buffer.from((await reader.read()).value ?? []).toString()
  agent = await host.startAgent()
  expect(running()).toBe(1)
  await reader.cancel()
  const all = first + (await output(started, first.length))
  expect(all).toBe(Array.from({ length: 100 }, (_, index) => `${index + 1}\n`).join(''))
  expect((await ended(started)).end).toMatchObject({ exitCode: 7, reason: 'exited' })
  expect(host.driver.ended).toEqual([])
  agent = await host.startAgent()
  expect((await dock().kept.read(started.processId)).end).toMatchObject({ exitCode: 7 })
})

it('passes input on, also after another agent has started', async () => {
  const started = await start('cat', { stdin: true })
  const write = (offset: number, body: string) =>
    agent.app.request(pathOf(started, `stdin?offset=${offset}`), { method: 'POST', body })
  expect(await (await write(0, 'one ')).json()).toEqual({ offset: 4 })
  agent = await host.startAgent()
  expect(await (await write(0, 'one two')).json()).toEqual({ offset: 7 })
  expect((await write(8, 'x')).status).toBe(409)
  await agent.app.request(pathOf(started, 'stdin/close'), { method: 'POST' })
  expect(await output(started)).toBe('one two')
})

it('ends with its timeout, counted from its start, also under another agent', async () => {
  const started = await start('sleep 600', { timeoutMs: 60_000 })
  agent = await host.startAgent()
  host.clock.advance(59_000)
  expect((await dock().kept.read(started.processId)).end).toBe(null)
  const endAfterAnotherSecond = async () => {
    host.clock.advance(1_000)
    return (await dock().kept.read(started.processId)).end?.reason
  }
  await expect.poll(endAfterAnotherSecond).toBe('timed_out')
})

it('can be signalled', async () => {
  const started = await start('sleep 600')
  await dock().kept.signal(started.processId, { signal: 'TERM', target: 'group' })
  expect((await ended(started)).end).toMatchObject({ exitCode: null, signal: 'TERM', reason: 'signaled' })
})

it('is ended with everything that it started, also after its own end', async () => {
  const kill = { signal: 'KILL', target: 'tree' } as const
  const started = await start('sleep 600')
  await dock().kept.signal(started.processId, kill)
  expect((await ended(started)).end).toMatchObject({ signal: 'KILL', reason: 'signaled' })
  expect(host.driver.ended).toHaveLength(1)
  await dock().kept.signal(started.processId, kill)
  expect(host.driver.ended).toEqual([host.driver.ended[0], host.driver.ended[0]])
})

it('has ended if it ends while its terminal is resized', async () => {
  const started = await start('sleep 600', { pty: { cols: 80, rows: 24 } })
  vi.spyOn(host.driver, 'resizeProcess').mockImplementationOnce(async () => {
    await dock().kept.signal(started.processId, { signal: 'KILL', target: 'group' })
    await ended(started)
  })
  await dock().kept.resize(started.processId, { cols: 90, rows: 30 })
  expect((await dock().kept.read(started.processId)).end).toMatchObject({ reason: 'signaled' })
  expect(running()).toBe(0)
})

it('can be resized many times at once', async () => {
  const started = await start('sleep 600', { pty: { cols: 80, rows: 24 } })
  const widths = Array.from({ length: 20 }, (_, at) => 81 + at)
  await Promise.all(widths.map((cols) => dock().kept.resize(started.processId, { cols, rows: 24 })))
  await dock().kept.signal(started.processId, { signal: 'KILL', target: 'group' })
  await ended(started)
  agent = await host.startAgent()
  expect((await dock().kept.read(started.processId)).end).toMatchObject({ reason: 'signaled' })
})

it('allows 32 running processes, and keeps 32 that have ended', async () => {
  const all = await Promise.all(Array.from({ length: 32 }, () => start('cat', { stdin: true })))
  await expect(start('true')).rejects.toMatchObject({ code: 'busy' })
  expect(running()).toBe(32)
  for (const each of all) await dock().kept.signal(each.processId, { signal: 'KILL', target: 'group' })
  await Promise.all(all.map(ended))
  const last = await start('true')
  await ended(last)
  await start('true')
  const left = await dock().kept.list()
  expect(left.length).toBeLessThanOrEqual(34)
  expect(left.some(({ processId }) => processId === all[0]?.processId)).toBe(false)
})

it('leaves nothing of a program that does not start', async () => {
  const refused = start('', { command: undefined, argv: ['/does/not/exist'] })
  await expect(refused).rejects.toThrow()
  expect(await dock().kept.list()).toEqual([])
})

it('is removed with its Dock', async () => {
  const started = await start('sleep 600')
  await dock().destroy({ operationId: newOperationId(), generation: 1 })
  expect(await dock().kept.list()).toEqual([])
  const response = await agent.app.request(pathOf(started, 'output/stdout?offset=0&follow=true'))
  expect(response.status).toBe(404)
  agent = await host.startAgent()
  expect(await dock().kept.list()).toEqual([])
})

it('has ended with its sandbox, and its output stays', async () => {
  const started = await start('echo begun; sleep 600')
  await expect.poll(async () => (await dock().kept.read(started.processId)).stdout.end).toBe(6)
  host.driver.kill(dockId)
  expect((await ended(started)).end).toMatchObject({ exitCode: null, signal: null, reason: 'dock_ended' })
  expect(await output(started)).toBe('begun\n')
})

it('reports input that breaks off as the caller’s, and takes the rest', async () => {
  const started = await start('cat', { stdin: true })
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('begin ')),
    pull: (controller) => controller.error(new Error('the link broke')),
  })
  const write = async (offset: number, body: string | ReadableStream<Uint8Array>) =>
    agent.app.request(pathOf(started, `stdin?offset=${offset}`), {
      ...{ method: 'POST', body },
      ...({ duplex: 'half' } as object),
    })
  const refused = await write(0, broken)
  expect([refused.status, await refused.json()]).toEqual([
    409,
    { code: 'conflict', message: 'the input broke off' },
  ])
  expect((await write(0, 'begin and end')).status).toBe(200)
  await agent.app.request(pathOf(started, 'stdin/close'), { method: 'POST' })
  expect(await output(started)).toBe('begin and end')
})
