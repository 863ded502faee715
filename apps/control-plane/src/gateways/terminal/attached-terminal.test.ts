import { once } from 'node:events'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'

let server: ControlPlaneWithHost
let clock: VirtualClock
let port: number
let dockId: string
let member: TestPerson
const clients: WebSocket[] = []
const processes: string[] = []

beforeAll(async () => {
  clock = createVirtualClock()
  server = await startControlPlaneWithHost({ clock })
  port = (await server.listen()).port
})
afterAll(() => server.stop())
beforeEach(async () => {
  dockId = await server.addDock()
  member = await addPerson(server, { role: 'member', organizationId: server.admin.organizationId })
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate()
  for (const path of processes.splice(0)) {
    await ask('POST', `${path}/signal`, { signal: 'KILL', target: 'tree' })
    await ask('GET', `${path}/wait`)
  }
})

/** Long timeout for busy machines. */
const patiently = { timeout: 60_000 }
const ask = (method: string, path: string, body?: object) => server.call(method, path, body, member.apiKey)

/** A plain shell, so that no profile of this machine prints anything. */
const shell = ['/bin/bash', '--norc', '--noprofile', '-i']
const start = async (body: object = {}): Promise<string> => {
  const wanted = { argv: shell, env: { PS1: '$ ' }, stdin: true, pty: { cols: 80, rows: 24 }, ...body }
  const answer = await ask('POST', `/v1/docks/${dockId}/processes`, wanted)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  const { id } = answer.body.data as { id: string }
  processes.push(`/v1/docks/${dockId}/processes/${id}`)
  return id
}
const read = async (id: string) =>
  (await ask('GET', `/v1/docks/${dockId}/processes/${id}`)).body.data as {
    state: string
    stdin: { offset: number }
    stdout: { endOffset: number }
  }
const ticketFor = async ({ processId, ...body }: { processId: string; offset?: number }, id = dockId) => {
  const { status, body: answer } = await ask('POST', `/v1/docks/${id}/processes/${processId}/terminal`, body)
  if (status !== 201) throw new Error(String(answer.code))
  return (answer.data as { ticket: string }).ticket
}
/** Opens a terminal, and collects what it shows. */
const attach = async (processId: string, more: { offset?: number } = {}) => {
  const ticket = await ticketFor({ processId, ...more })
  const client = new WebSocket(`ws://127.0.0.1:${port}/v1/docks/${dockId}/terminal?ticket=${ticket}`)
  clients.push(client)
  const tab = {
    client,
    screen: '',
    frames: [] as string[],
    closed: once(client, 'close').then(([code]) => code),
    type: (text: string) => client.send(Buffer.from(text)),
    shows: (text: string) => expect.poll(() => tab.screen, patiently).toContain(text),
  }
  client.on('message', (data, isBinary) => {
    if (isBinary) tab.screen += String(data)
    else tab.frames.push(String(data))
  })
  await once(client, 'open')
  return tab
}
const pidOn = async (tab: Awaited<ReturnType<typeof attach>>) => {
  const before = tab.screen.length
  tab.type('echo "pid<$$>"\r')
  await expect.poll(() => tab.screen.slice(before), patiently).toMatch(/pid<\d+>/)
  return /pid<(\d+)>/.exec(tab.screen.slice(before))?.[1]
}

it('shows the scrollback after a lost connection, and the same shell goes on', async () => {
  const id = await start()
  const first = await attach(id)
  await first.shows('$ ')
  const pid = await pidOn(first)
  first.client.terminate()
  await first.closed
  const second = await attach(id)
  await second.shows(`pid<${pid}>`)
  expect(second.frames).toEqual(['{"type":"attached","offset":0}'])
  expect(await pidOn(second)).toBe(pid)
  const seen = second.screen.length
  second.client.close()
  await second.closed
  const third = await attach(id, { offset: seen })
  third.type('echo th""ird\r')
  await third.shows('third')
  expect(third.screen).not.toContain(`pid<${pid}>`)
  expect(third.frames).toEqual([`{"type":"attached","offset":${seen}}`])
  expect((await read(id)).state).toBe('running')
})

it('takes input from two tabs in the order of arrival, and from HTTP', async () => {
  const id = await start()
  const [one, two] = [await attach(id), await attach(id)]
  for (let round = 1; round <= 10; round += 1) {
    one.type(`echo o""ne${round}\r`)
    await two.shows(`one${round}\r\n`)
    two.type(`echo t""wo${round}\r`)
    await one.shows(`two${round}\r\n`)
  }
  const { offset } = (await read(id)).stdin
  const path = `/v1/docks/${dockId}/processes/${id}/stdin?offset=${offset}`
  const url = `http://127.0.0.1:${port}${path}`
  const headers = { authorization: `Bearer ${member.apiKey}` }
  expect((await fetch(url, { method: 'POST', headers, body: 'echo h""ttp\r' })).status).toBe(200)
  await one.shows('http\r\n')
  one.type('echo l""ast\r')
  await two.shows('last\r\n')
})

it('delivers what was typed just before the connection closed', async () => {
  const id = await start({ argv: ['/bin/bash', '-c', 'sleep 1; read line; echo "got<$line>"; sleep 600'] })
  const first = await attach(id)
  first.type('typed\r')
  first.client.close()
  await first.closed
  await (await attach(id)).shows('got<typed>')
})

it('resizes the terminal of the process', async () => {
  const id = await start()
  const tab = await attach(id)
  tab.client.send(JSON.stringify({ type: 'resize', cols: 101, rows: 31 }))
  const ask = () => {
    tab.type('stty size\r')
    return tab.screen
  }
  await expect.poll(ask, { ...patiently, interval: 200 }).toContain('31 101')
})

it.each([
  ['exit 7\r', 7],
  ['kill -KILL $$\r', 137],
])('ends with the process after %j, with the exit code %i', async (text, code) => {
  const id = await start()
  const [one, two] = [await attach(id), await attach(id)]
  one.type(`echo b""ye; ${text}`)
  expect([await one.closed, await two.closed]).toEqual([1000, 1000])
  expect(one.frames.at(-1)).toBe(JSON.stringify({ type: 'exit', code }))
  expect(two.screen).toContain('bye\r\n')
  await expect(ticketFor({ processId: id })).rejects.toThrow('not_found')
})

it('shows all output of a process that has ended since the terminal opened', async () => {
  const id = await start({ argv: ['/bin/bash', '-c', 'read line; seq 1 100000; exit 3'] })
  const tab = await attach(id)
  tab.client.pause()
  tab.type('\r')
  await ask('GET', `/v1/docks/${dockId}/processes/${id}/wait`)
  tab.client.resume()
  expect(await tab.closed).toBe(1000)
  expect(tab.screen.trimEnd().endsWith('100000')).toBe(true)
  expect(tab.screen).toContain('\r\n50000\r\n')
  expect(tab.frames.at(-1)).toBe('{"type":"exit","code":3}')
})

it('only shows a process that takes no input', async () => {
  const id = await start({
    argv: ['/bin/bash', '-c', 'for i in 1 2 3; do sleep 0.5; echo "n$i"; done'],
    stdin: false,
  })
  const tab = await attach(id)
  tab.type('ignored\r')
  expect(await tab.closed).toBe(1000)
  expect(tab.screen).toContain('n3')
})

it('keeps the limits of terminals, and leaves the process alone', async () => {
  const id = await start()
  const tab = await attach(id)
  await tab.shows('$ ')
  for (let count = 0; count < 3; count += 1) await attach(id)
  await expect(ticketFor({ processId: id })).rejects.toThrow('rate_limited')
  const half = 15 * 60_000
  const pinged = once(tab.client, 'ping')
  clock.advance(half)
  await pinged
  clock.advance(half)
  expect(await tab.closed).toBe(4000)
  expect((await read(id)).state).toBe('running')
})

it('is refused for a process of another Dock, without a pty, that has ended, or that does not exist', async () => {
  const refused = (body: { processId: string; offset?: number }, id = dockId) =>
    ticketFor(body, id).catch((error: Error) => error.message)
  const other = await server.addDock()
  const running = await start()
  const plain = await start({ argv: ['/bin/sleep', '600'], pty: undefined })
  const ended = await start({ argv: ['/bin/true'] })
  await ask('GET', `/v1/docks/${dockId}/processes/${ended}/wait`)
  expect(await refused({ processId: running }, other)).toBe('not_found')
  expect(await refused({ processId: plain })).toBe('not_found')
  expect(await refused({ processId: ended })).toBe('not_found')
  expect(await refused({ processId: dockId })).toBe('not_found')
  expect(await refused({ processId: 'nonsense' })).toBe('not_found')
  expect(await refused({ processId: running, offset: -1 })).toBe('validation_error')
  // The route of the specification takes no body.
  const answer = await ask('POST', `/v1/docks/${dockId}/terminal`, { processId: running })
  expect(answer.body.code).toBe('validation_error')
})
