/** Git connections of Docks, through an agent of an in-memory host: which Dock they are announced for, and who may take them. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { newUuid } from '@dock/foundation'
import { type GitConnected, type IncomingConnection, readMessage } from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let closing: (() => void)[]
beforeEach(async () => {
  host = await createMemoryHost()
  closing = []
})
afterEach(async () => {
  for (const close of closing) close()
  await host.remove()
})

const post = (path: string, body: object) =>
  host.agent.app.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const run = async (): Promise<string> => {
  const dockId = newUuid()
  expect((await post(`/docks/${dockId}/start`, startCommand())).status).toBe(200)
  return dockId
}
const clone = (dockId: string, generation = 1) =>
  post(`/docks/${dockId}/repositories`, { operationId: 'op', generation, repositories: [], timeoutMs: 1000 })
const heard = (): GitConnected[] => {
  const events: GitConnected[] = []
  host.agent.events.listen((event) => {
    if (event.type === 'git.connected') events.push(event)
  })
  return events
}
const doorOf = (dockId: string) => host.doors.get(host.networks.find(dockId)?.gateway ?? '')

/** A connection as a door passes it on, and its other end. */
const connection = async (): Promise<{ git: Socket; socket: Socket }> => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const git = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  closing.push(() => [server.close(), git.destroy(), socket.destroy()])
  return { git, socket }
}

/** Takes a connection as the control plane does. Returns its end, or the status of the refusal. */
const take = async (dockId: string, connectionId: string): Promise<Duplex | number> => {
  const [mine, agents] = duplexPair()
  let refused = 0
  await host.agent.connect({
    target: new URL(`http://agent/docks/${dockId}/git/${connectionId}`),
    gone: new AbortController().signal,
    accept: () => agents,
    readMessage: (bytesMax) => readMessage(agents, bytesMax),
    beginDialBack: () => undefined,
    acceptByDialBack: async () => agents,
    refuse: (status) => {
      refused = status
    },
  } satisfies IncomingConnection)
  return refused || mine
}

it('opens a door when repositories are cloned; a connection is announced for this Dock, and can be taken once', async () => {
  const events = heard()
  const dockId = await run()
  expect(doorOf(dockId)).toBeUndefined()
  expect(await (await clone(dockId)).json()).toEqual({ failed: [], cloned: [], toSetUp: [] })
  const { git, socket } = await connection()
  git.write('asked')
  doorOf(dockId)!.take(socket)
  expect(events).toEqual([{ type: 'git.connected', connectionId: expect.any(String), dockId, generation: 1 }])
  const { connectionId } = events[0]!
  expect(await take(await run(), connectionId)).toBe(404)
  const taken = (await take(dockId, connectionId)) as Duplex
  expect(String((await once(taken, 'data'))[0])).toBe('asked')
  taken.end('answered')
  expect(String((await once(git, 'data'))[0])).toBe('answered')
  expect(await take(dockId, connectionId)).toBe(404)
})

it('closes a connection that nobody takes', async () => {
  const dockId = await run()
  await clone(dockId)
  const events = heard()
  const { git, socket } = await connection()
  const closed = once(git.resume(), 'close')
  doorOf(dockId)!.take(socket)
  await host.clock.advanceInSteps(30_000)
  await closed
  expect(await take(dockId, events[0]!.connectionId)).toBe(404)
})

it('closes the door before the Dock’s addresses can be reused, and announces nothing for a Dock that has ended', async () => {
  const dockId = await run()
  await clone(dockId)
  const door = doorOf(dockId)!
  const events = heard()
  host.driver.kill(dockId)
  await expect.poll(() => host.doors.size).toBe(0)
  const { git, socket } = await connection()
  const closed = once(git.resume(), 'close')
  door.take(socket)
  await closed
  expect(events).toEqual([])
})

it('opens the doors of Docks that another agent left running', async () => {
  const dockId = await run()
  host.doors.clear()
  const agent = await host.startAgent()
  expect(doorOf(dockId)).toBeDefined()
  expect(agent.docks.find(dockId)?.running?.generation).toBe(1)
})

it('clones only in the requested generation', async () => {
  const dockId = await run()
  expect((await clone(dockId, 2)).status).toBe(409)
  expect((await clone(newUuid())).status).toBe(409)
  expect(host.doors.size).toBe(0)
})

it('writes git’s configuration to memory as root, and passes no address to a command as an argument', async () => {
  const dockId = await run()
  const before = host.driver.executed.length
  const repository = {
    ...{ id: newUuid(), name: 'acme/app', url: 'https://github.com/acme/app.git', folder: 'app' },
    ...{ doorPath: 'github/acme/app.git', branch: '--upload-pack=x', hasSetupScript: true },
  }
  const body = { operationId: 'op', generation: 1, repositories: [repository], timeoutMs: 1000 }
  expect((await post(`/docks/${dockId}/repositories`, body)).status).toBe(200)
  const [config, cloned] = host.driver.executed.slice(before)
  expect(config).toMatchObject({
    uid: 0,
    input: expect.stringContaining('http://10.0.0.254:9419/github/acme/app'),
  })
  expect(cloned).toMatchObject({
    uid: 1000,
    env: expect.objectContaining({ DOCK_BRANCH: repository.branch }),
  })
  expect(JSON.stringify(cloned!.argv)).not.toContain('upload-pack')
})
