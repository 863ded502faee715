/** Clients that want to harm the gateway. The process that runs the tests is the one that they attack. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { limits } from '@dock/contract'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import ssh2, { type Client, type ClientChannel } from 'ssh2'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let dockId: string
let privateKey: string
const logged: string[] = []

beforeAll(async () => {
  world = await startSshWorld({ logTo: (line) => logged.push(line) })
  privateKey = await readFile(join(world.client.folder, 'id'), 'utf8')
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
})

const connect = async (): Promise<Client> => {
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  client.connect({ host: '127.0.0.1', port: world.port, username: dockId, privateKey })
  await once(client, 'ready')
  return client
}
const exec = (client: Client, command: string): Promise<ClientChannel> =>
  new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
const closeOf = (client: Client): Promise<void> =>
  new Promise((resolve) => {
    client.once('close', () => resolve())
  })
const works = async (): Promise<void> =>
  expect(await world.client.ssh(dockId, 'echo works')).toMatchObject({ code: 0, stdout: 'works\n' })
const megabytes = (): number => process.memoryUsage().rss / 2 ** 20

it('a client that announces a huge window and reads nothing makes the program wait', async () => {
  const client = await connect()
  const before = megabytes()
  const channels = await Promise.all(
    Array.from({ length: 4 }, () => exec(client, 'yes | head -c 400000000; echo done >>done')),
  )
  for (const channel of channels) {
    // As if the client had room for four gigabytes.
    const protocol: unknown = Reflect.get(client, '_protocol')
    const { outgoing } = channel as ClientChannel & { outgoing: { id: number } }
    Reflect.apply(Reflect.get(Object(protocol), 'channelWindowAdjust'), protocol, [outgoing.id, 2 ** 31 - 1])
  }
  const socket: unknown = Reflect.get(client, '_sock')
  Reflect.apply(Reflect.get(Object(socket), 'pause'), socket, [])
  await new Promise((resolve) => setTimeout(resolve, 4_000))
  expect(megabytes() - before).toBeLessThan(150)
  await works()
  client.destroy()
  expect(await readFile(join(fakeProcessFolder(), 'done'), 'utf8').catch(() => '')).toBe('')
})

it('opens only so many sessions', async () => {
  const client = await connect()
  const opened = await Promise.allSettled(
    Array.from({ length: limits.ssh.sessionsPerConnectionMax + 8 }, () => exec(client, 'sleep 60')),
  )
  expect(opened.filter(({ status }) => status === 'rejected')).toHaveLength(8)
  client.end()
  await works()
})

/** Calls a method of ssh2's protocol that its types do not know. */
const callProtocol = (client: Client, method: string, ...args: unknown[]): void => {
  const protocol: unknown = Reflect.get(client, '_protocol')
  Reflect.apply(Reflect.get(Object(protocol), method), protocol, args)
}
const handlersOf = (client: Client): object =>
  Object(Reflect.get(Object(Reflect.get(client, '_protocol')), '_handlers'))

it.each([0, 1, 255])('opens no channel for packets of %i bytes', async (packetBytes) => {
  const client = await connect()
  const answered = Promise.withResolvers<string>()
  for (const name of ['CHANNEL_OPEN_CONFIRMATION', 'CHANNEL_OPEN_FAILURE'])
    Reflect.set(handlersOf(client), name, () => answered.resolve(name))
  callProtocol(client, 'session', 0, 2 ** 20, packetBytes)
  expect(await answered.promise).toBe('CHANNEL_OPEN_FAILURE')
  client.end()
  await works()
})

it('disconnects a client that sends more than it was granted', async () => {
  const client = await connect()
  const closed = closeOf(client)
  const before = megabytes()
  const channel = (await exec(client, 'sleep 60')) as ClientChannel & { outgoing: { window: number } }
  channel.on('error', () => undefined)
  channel.outgoing.window = Number.MAX_SAFE_INTEGER
  // Not a divisor of the window, which therefore never has exactly 0 bytes.
  for (let at = 0; at < 4_000; at++) channel.write(Buffer.alloc(30_001))
  await closed
  expect(megabytes() - before).toBeLessThan(350)
  await works()
})

it('passes few of many signals and sizes on at once', async () => {
  const client = await connect()
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.shell({}, (error, opened) => (error ? reject(error) : resolve(opened)))
  })
  await once(channel, 'data')
  const { process: program } = world.server.host.connections.processes.at(-1)!
  const asked = { resize: 0, signal: 0 }
  const answers: (() => void)[] = []
  const ask = (name: 'resize' | 'signal') => (): Promise<void> => {
    asked[name] += 1
    return new Promise((resolve) => answers.push(resolve))
  }
  Object.assign(program, { resize: ask('resize'), signal: ask('signal') })
  for (let at = 0; at < 1_000; at++) {
    channel.setWindow(24, 80 + at, 0, 0)
    channel.signal('USR1')
  }
  // Answered after everything before it.
  await exec(client, 'true')
  expect(asked).toEqual({ resize: 1, signal: 8 })
  answers[0]?.()
  await expect.poll(() => asked.resize).toBe(2)
  client.destroy()
  await works()
})

it('holds a limited number of bytes for programs that do not read, however many there are', async () => {
  const client = await connect()
  const closed = closeOf(client)
  const socket = Object(Reflect.get(client, '_sock')) as Socket
  const channels = await Promise.all(
    Array.from({ length: limits.ssh.sessionsPerConnectionMax }, () => exec(client, 'sleep 60')),
  )
  for (const channel of channels) channel.on('error', () => undefined).write(Buffer.alloc(4 * 2 ** 20))
  const taken = (): number => socket.bytesWritten - socket.writableLength
  for (let [before, now] = [-1, taken()]; now > before; [before, now] = [now, taken()])
    await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(taken()).toBeLessThan(48 * 2 ** 20)
  await closed
  await works()
})

it('cannot make a session before it has signed in', async () => {
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  client.connect({ host: '127.0.0.1', port: world.port, username: dockId, authHandler: () => false })
  client.on('handshake', () => {
    const protocol: unknown = Reflect.get(client, '_protocol')
    Reflect.apply(Reflect.get(Object(protocol), 'session'), protocol, [0, 2 ** 20, 2 ** 15])
  })
  const count = world.server.host.connections.processes.length
  await new Promise<void>((resolve) => {
    client.once('close', () => resolve())
  })
  expect(world.server.host.connections.processes).toHaveLength(count)
})

it('broken handshakes leave nothing behind', async () => {
  const rubbish = [
    'GET / HTTP/1.1\r\n\r\n',
    'SSH-2.0-x\r\n',
    Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), randomBytes(2_000)]),
    // A packet with a key exchange of impossible lists.
    Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), Buffer.from([0, 0, 1, 4, 4, 20]), Buffer.alloc(300, 0xff)]),
    createHash('sha256').update('x').digest(),
  ]
  for (let at = 0; at < 250; at++) {
    const socket = createConnection(world.port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    await once(socket, 'connect')
    socket.write(rubbish[at % rubbish.length]!)
    if (at % 2 === 0) socket.destroy()
    else socket.end()
    if (!socket.closed) await once(socket, 'close')
  }
  const metrics = await world.server.controlPlane.metrics.registry.metrics()
  expect(metrics).toMatch(/^dock_ssh_connections 0$/m)
  expect(logged.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})
