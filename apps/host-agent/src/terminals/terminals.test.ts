import { type Duplex, duplexPair } from 'node:stream'
import { newUuid } from '@dock/foundation'
import { type IncomingConnection, readMessage } from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
  await host.agent.docks.getForCommand(dockId).start(startCommand())
})
afterEach(() => host.remove())

/** Long, for a busy machine. */
const patiently = { timeout: 60_000 }

type Opened = { end: Duplex; leave: () => void; trailers: () => object } | { status: number; code: string }

/** The control plane's side of a connection. */
const connect = async (target: string): Promise<Opened> => {
  const [near, far] = duplexPair()
  let opened: Opened | undefined
  const connection: IncomingConnection = {
    target: new URL(target, 'http://agent'),
    gone: new AbortController().signal,
    accept: (trailers = () => ({})) => {
      opened = { end: near, leave: () => void far.destroy(), trailers }
      return far
    },
    readMessage: (bytesMax) => readMessage(far, bytesMax),
    beginDialBack: () => undefined,
    acceptByDialBack: async () => connection.accept(),
    refuse: (status, { code }) => {
      opened = { status, code }
    },
  }
  await host.agent.connect(connection)
  return opened!
}
const open = async (terminalId = newUuid(), query = 'generation=1&cols=80&rows=24') => {
  const opened = await connect(`/docks/${dockId}/terminals/${terminalId}?${query}`)
  if (!('end' in opened)) throw new Error(opened.code)
  return { ...opened, terminalId }
}
const read = (end: Duplex): Promise<string> =>
  new Promise((resolve) => end.once('data', (chunk: Buffer) => resolve(chunk.toString())))
const over = (end: Duplex): Promise<void> =>
  new Promise((resolve) => end.resume().once('end', () => resolve()))

test('a terminal passes bytes in both directions, can be resized, and reports its exit code', async () => {
  const { end, trailers, terminalId } = await open()
  const terminal = host.driver.terminals[0]
  expect(terminal?.size).toEqual({ cols: 80, rows: 24 })
  const said = read(end)
  end.write('ls')
  expect(await said).toBe('ls')
  const body = JSON.stringify({ cols: 132, rows: 50 })
  const path = `/docks/${dockId}/terminals/${terminalId}/resize`
  expect((await host.agent.app.request(path, { method: 'POST', body })).status).toBe(200)
  expect(terminal?.size).toEqual({ cols: 132, rows: 50 })
  end.write('\rexit 3\r')
  await over(end)
  expect(trailers()).toEqual({ 'exit-code': '3' })
})

test('a Dock that stops ends its terminals without an exit code', async () => {
  const { end, trailers } = await open()
  const ended = over(end)
  host.driver.kill(dockId)
  await ended
  expect(trailers()).toEqual({})
  await expect(open()).rejects.toThrow('not_running')
})

test('allows at most four terminals; closing one makes room', async () => {
  const [first] = [await open(), await open(), await open(), await open()]
  await expect(open()).rejects.toThrow('busy')
  first?.leave()
  await expect.poll(() => open().then(() => 'open', String), patiently).toBe('open')
})

test('a slow reader pauses the terminal and loses nothing', async () => {
  const { end } = await open()
  const [terminal] = host.driver.terminals
  const line = `${'x'.repeat(1023)}\n`
  for (let sent = 0; sent < 4096; sent += 1) terminal?.print(line)
  let received = 0
  end.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  await expect.poll(() => received, patiently).toBe(4096 * 1024)
})

test('refuses invalid requests, old generations and unknown Docks', async () => {
  const terminal = `/docks/${dockId}/terminals/${newUuid()}`
  const refusals = [
    [`${terminal}?generation=1&cols=80`, 'invalid'],
    [`${terminal}?generation=1&cols=80&rows=0`, 'invalid'],
    [`/docks/${dockId}/terminals/first?generation=1&cols=80&rows=24`, 'invalid'],
    [`${terminal}?generation=2&cols=80&rows=24`, 'not_running'],
    [`/docks/${newUuid()}/terminals/${newUuid()}?generation=1&cols=80&rows=24`, 'not_running'],
    [`/docks/${dockId}/elsewhere/1`, 'not_found'],
    [`/docks/${dockId}/ports/70000?generation=1`, 'invalid'],
  ] as const
  for (const [target, code] of refusals)
    expect([target, await connect(target)]).toMatchObject([target, { code }])
})
