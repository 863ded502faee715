import { setTimeout as delay } from 'node:timers/promises'
import type { RouteBody, routes } from '@dock/contract'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { stopDock } from '../docks/index.ts'
import {
  closeInput,
  createProcessesModule,
  listProcesses,
  type ProcessContext,
  readProcess,
  readProcessOutput,
  resizeProcess,
  signalProcess,
  startProcess,
  waitForProcess,
  writeInput,
} from './index.ts'

let world: TestWorld
let context: ProcessContext
let dockId: string
let loseAccess: (() => void)[]
let released: number
useTestWorld(async (fresh) => {
  world = fresh
  const { db, clock, host, modules } = world
  loseAccess = []
  released = 0
  const { rateLimits, activity } = modules.context
  const subscribe = (_hold: unknown, onLost: () => void) => {
    loseAccess.push(onLost)
    return () => {
      released += 1
    }
  }
  const needs = { db, clock, rateLimits, activity, hosts: host, accessSignals: { subscribe } }
  context = createProcessesModule(needs).context
  dockId = (await world.create()).id
})

type Body = RouteBody<(typeof routes)['startDockProcess']>
const start = (body: Partial<Body>, key?: string) =>
  startProcess(context, world.caller, dockId, { env: {}, stdin: false, holdOutput: false, ...body }, key)
const placeOf = ({ id }: { id: string }) => ({ id: dockId, pid: id })
const open = (process: { id: string }, query: Partial<Parameters<typeof readProcessOutput>[3]> = {}) =>
  readProcessOutput(context, world.caller, placeOf(process), {
    stream: 'stdout',
    offset: 0,
    stderrOffset: 0,
    follow: true,
    ...query,
  })
const textOf = async (process: { id: string }, query?: Parameters<typeof open>[1]) =>
  new Response((await open(process, query)).body).text()
const wait = (process: { id: string }) =>
  waitForProcess(context, world.caller, placeOf(process), { timeoutSeconds: 30 })
const input = (text: string) => new Blob([text]).stream()

it('starts a process, and reads its output and its end later', async () => {
  const started = await start({ command: 'echo out; echo err >&2; exit 3' })
  expect(await wait(started)).toMatchObject({ state: 'ended', exitCode: 3, signal: null, reason: 'exited' })
  expect(await textOf(started)).toBe('out\n')
  expect(await textOf(started, { offset: 2 })).toBe('t\n')
  const { headers } = await open(started, { offset: 1 })
  expect(headers).toEqual({ 'x-dock-first-offset': '0', 'x-dock-start-offset': '1' })
  expect(await outcomeOf(open(started, { offset: 5 }))).toBe('conflict')
  expect(await listProcesses(context, world.caller, dockId)).toHaveLength(1)
})

it('reads both streams as lines of JSON, which tell the offset to go on from', async () => {
  const started = await start({ argv: ['/bin/bash', '-c', 'printf abc; printf x >&2'] })
  await wait(started)
  const lines = (await textOf(started, { stream: 'both', offset: 1 })).trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line) as { stream: string })
  expect(parsed.filter(({ stream }) => stream === 'stdout')).toEqual([
    { stream: 'stdout', offset: 1, data: Buffer.from('bc').toString('base64') },
    { stream: 'stdout', offset: 3, end: true },
  ])
  expect(parsed.filter(({ stream }) => stream === 'stderr')).toEqual([
    { stream: 'stderr', offset: 0, data: Buffer.from('x').toString('base64') },
    { stream: 'stderr', offset: 1, end: true },
  ])
})

it('keeps all that a fast command writes before its first reader comes, if it is to hold it', async () => {
  const started = await start({ command: 'seq 2000000; echo done >&2', holdOutput: true })
  const text = await textOf(started)
  expect([text.length, text.startsWith('1\n2\n'), text.endsWith('\n2000000\n')]).toEqual([
    14_888_896,
    true,
    true,
  ])
  expect(await wait(started)).toMatchObject({ exitCode: 0, stdout: { endOffset: 14_888_896 } })
})

it('writes input at offsets, once', async () => {
  const started = await start({ command: 'cat', stdin: true })
  const write = (offset: number, text: string) =>
    writeInput(context, world.caller, placeOf(started), { offset }, input(text))
  expect(await write(0, 'one ')).toEqual({ offset: 4 })
  expect(await write(0, 'one two')).toEqual({ offset: 7 })
  expect(await outcomeOf(write(9, 'x'))).toBe('conflict')
  await closeInput(context, world.caller, placeOf(started))
  expect(await textOf(started)).toBe('one two')
})

it('signals a process, and resizes its terminal', async () => {
  const started = await start({ command: 'stty size; sleep 600', pty: { cols: 80, rows: 24 } })
  await expect.poll(() => textOf(started, { follow: false })).toContain('24 80')
  await resizeProcess(context, world.caller, placeOf(started), { cols: 100, rows: 30 })
  await signalProcess(context, world.caller, placeOf(started), { signal: 'TERM', target: 'group' })
  expect(await wait(started)).toMatchObject({ state: 'ended', signal: 'TERM', stderr: null })
  const plain = await start({ command: 'true' })
  const resize = resizeProcess(context, world.caller, placeOf(plain), { cols: 100, rows: 30 })
  expect(await outcomeOf(resize)).toBe('conflict')
})

it('starts at most once with a key, also after a restart of this process', async () => {
  const first = await start({ command: 'echo once' }, 'k')
  expect((await start({ command: 'echo twice' }, 'k')).id).toBe(first.id)
  context = createProcessesModule({ ...context }).context
  expect((await start({ command: 'echo again' }, 'k')).id).toBe(first.id)
  const raced = await Promise.all(Array.from({ length: 10 }, () => start({ command: 'true' }, 'raced')))
  expect(new Set(raced.map(({ id }) => id)).size).toBe(1)
  expect(world.host.startsOfKept).toHaveLength(2)
})

it('gives the key of a refused start back, and keeps that of one that may have run', async () => {
  world.host.connections.unreachable = new (await import('../hosts/index.ts')).HostUnreachable('lost')
  expect(await outcomeOf(start({ command: 'true' }, 'lost'))).toBe('service_unavailable')
  world.host.connections.unreachable = null
  expect(await outcomeOf(start({ command: 'true' }, 'lost'))).toBe('exec_result_expired')
  expect(await outcomeOf(start({ argv: ['/does/not/exist'] }, 'refused'))).toBe('validation_error')
  expect(await outcomeOf(start({ command: 'true' }, 'refused'))).toBe('succeeded')
})

it('is closed to strangers, and to members if the Dock has secrets', async () => {
  const started = await start({ command: 'sleep 600', stdin: true })
  const { stranger } = world
  const place = placeOf(started)
  expect(await outcomeOf(listProcesses(context, stranger, dockId))).toBe('dock_not_found')
  expect(await outcomeOf(readProcess(context, stranger, place))).toBe('dock_not_found')
  const environmentId = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
  await sql`update docks set marks = array[${environmentId}::uuid] where id = ${dockId}`.execute(world.db)
  const calls = [
    start({ command: 'true' }),
    listProcesses(context, world.caller, dockId),
    readProcess(context, world.caller, place),
    open(started),
    writeInput(context, world.caller, place, { offset: 0 }, input('x')),
    closeInput(context, world.caller, place),
    signalProcess(context, world.caller, place, { signal: 'KILL', target: 'group' }),
    resizeProcess(context, world.caller, place, { cols: 1, rows: 1 }),
    wait(started),
  ]
  for (const outcome of await Promise.all(calls.map(outcomeOf)))
    expect(outcome).toBe('environment_secrets_admin_only')
})

it('knows no process of another Dock, and none of a Dock that is stopped', async () => {
  const started = await start({ command: 'true' })
  const other = (await world.create()).id
  const read = (id: string) => readProcess(context, world.caller, { id, pid: started.id })
  expect(await outcomeOf(read(other))).toBe('not_found')
  await stopDock(world.modules.context, world.caller, dockId, { force: false })
  expect(await outcomeOf(read(dockId))).toBe('dock_not_running')
  expect(await outcomeOf(start({ command: 'true' }))).toBe('dock_not_running')
})

it('breaks the stream of a person who loses access', async () => {
  const started = await start({ command: 'echo begun; sleep 600' })
  const { body } = await open(started)
  const reader = body.getReader()
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('begun\n')
  for (const lose of loseAccess) lose()
  await expect(reader.read()).rejects.toThrow()
})

it('takes no more input from a person who loses access', async () => {
  const started = await start({ command: 'cat', stdin: true })
  let send = (_text: string): void => undefined
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      send = (text) => controller.enqueue(Buffer.from(text))
    },
  })
  const written = outcomeOf(writeInput(context, world.caller, placeOf(started), { offset: 0 }, body))
  const reader = (await open(started)).body.getReader()
  send('before\n')
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('before\n')
  for (const lose of loseAccess) lose()
  expect(await written).toBe('dock_not_found')
  expect(released).toBe(2)
  await closeInput(context, world.caller, placeOf(started))
  expect(await textOf(started)).toBe('before\n')
})

it('counts no stream whose host was lost while it was opened', async () => {
  const started = await start({ command: 'sleep 600' })
  const { hosts } = context
  context.hosts = {
    ...hosts,
    openKeptOutput: async (...args) => {
      const opened = await hosts.openKeptOutput(...args)
      opened.body.on('error', () => undefined).destroy(new Error('the link broke'))
      return opened
    },
  }
  for (let at = 0; at < 130; at += 1) await open(started)
  context.hosts = hosts
  expect(await outcomeOf(open(started))).not.toBe('rate_limited')
  await signalProcess(context, world.caller, placeOf(started), { signal: 'KILL', target: 'group' })
})

it('still ends the rest when access is lost, once one of two outputs has ended', async () => {
  const started = await start({ command: 'echo begun; exec 2>&-; sleep 600' })
  const reader = (await open(started, { stream: 'both' })).body.getReader()
  const seen = [await reader.read(), await reader.read()].map(({ value }) =>
    Buffer.from(value ?? []).toString(),
  )
  expect(seen.join('')).toContain('"end":true')
  expect(released).toBe(0)
  for (const lose of loseAccess) lose()
  await expect(reader.read()).rejects.toThrow()
  await signalProcess(context, world.caller, placeOf(started), { signal: 'KILL', target: 'group' })
})

it('counts open streams, and releases them when their clients leave', async () => {
  const started = await start({ command: 'sleep 600' })
  for (let round = 0; round < 3; round += 1) {
    const opened = await Promise.all(Array.from({ length: 128 }, () => open(started)))
    expect(await outcomeOf(open(started))).toBe('rate_limited')
    await Promise.all(opened.map(({ body }) => body.cancel()))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await signalProcess(context, world.caller, placeOf(started), { signal: 'KILL', target: 'group' })
})

it('keeps a Dock running while a host reports processes, also after a restart', async () => {
  const stateOf = async () =>
    (await sql<{ state: string }>`select state from docks where id = ${dockId}`.execute(world.db)).rows[0]
      ?.state
  const sandbox = world.host.sandboxes.get(dockId)!
  world.host.sandboxes.set(dockId, { ...sandbox, processes: 1 })
  await world.report()
  world.clock.advance(10_000)
  await world.modules.context.activity.settled()
  expect(await stateOf()).toBe('running')
  const event = { type: 'dock.processes' as const, dockId, generation: 1, running: 0 }
  await world.modules.hostEvents.handle(world.hostId, event)
  await world.modules.context.activity.settled()
  expect(await stateOf()).toBe('ready')
  await world.modules.hostEvents.handle('00000000-0000-4000-8000-000000000000', { ...event, running: 1 })
  world.clock.advance(10_000)
  await world.modules.context.activity.settled()
  expect(await stateOf()).toBe('ready')
})

it('survives a caller who disconnects before the first byte of input is read', async () => {
  const started = await start({ argv: ['cat'], stdin: true })
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })),
  })
  const written = writeInput(context, world.caller, placeOf(started), { offset: 0 }, broken)
  expect(await outcomeOf(written)).not.toBe('succeeded')
  expect(await writeInput(context, world.caller, placeOf(started), { offset: 0 }, input('ab'))).toEqual({
    offset: 2,
  })
  await closeInput(context, world.caller, placeOf(started))
  expect(await textOf(started)).toBe('ab')
})

describe('input that arrives slowly', () => {
  const pace = { stallMs: 300, bytesPerSecond: 1000 }
  const write = (process: { id: string }, body: ReadableStream<Uint8Array>) =>
    outcomeOf(writeInput(context, world.caller, placeOf(process), { offset: 0 }, body, pace))

  it('holds no place forever: a caller who sends nothing more is refused', async () => {
    const started = await start({ argv: ['cat'], stdin: true })
    let isCancelled = false
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(3)),
      cancel: () => {
        isCancelled = true
      },
    })
    expect(await write(started, stalled)).toBe('validation_error')
    expect(isCancelled).toBe(true)
    expect((await readProcess(context, world.caller, placeOf(started))).stdin.offset).toBe(3)
  })

  it('is refused if a byte comes now and then', async () => {
    const started = await start({ argv: ['cat'], stdin: true })
    const trickle = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await delay(50)
        controller.enqueue(new Uint8Array(1))
      },
    })
    expect(await write(started, trickle)).toBe('validation_error')
  })

  it('is not refused while the process does not read', async () => {
    const started = await start({ command: 'sleep 1; wc -c', stdin: true })
    const bytes = new Uint8Array(2 ** 20)
    const write = writeInput(
      context,
      world.caller,
      placeOf(started),
      { offset: 0 },
      new Blob([bytes]).stream(),
      pace,
    )
    expect(await write).toEqual({ offset: bytes.length })
    await closeInput(context, world.caller, placeOf(started))
    await wait(started)
    expect((await textOf(started)).trim()).toBe(String(bytes.length))
  })
})
