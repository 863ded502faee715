/** What a client may do before it has signed in, and how a connection shows that it lives. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { limits, rateLimits } from '@dock/contract'
import { generateKeyPair } from '@dock/ssh-server'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let clock: VirtualClock
let dockId: string

beforeAll(async () => {
  clock = createVirtualClock()
  world = await startSshWorld({ clock })
  dockId = await world.server.addDock()
})
afterAll(() => world?.stop())

/** Connects, and returns whether the gateway says its version, with the socket. */
const open = async (localAddress: string): Promise<{ isGreeted: boolean; socket: Socket }> => {
  const socket = connect({ host: '127.0.0.1', port: world.port, localAddress })
  socket.on('error', () => undefined)
  const heard = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => null)])
  return { isGreeted: heard !== null, socket }
}

it('a client that does not sign in is disconnected after thirty seconds', async () => {
  const { socket } = await open('127.0.0.1')
  socket.resume()
  const closed = once(socket, 'close')
  clock.advance(limits.ssh.loginSeconds * 1000)
  await closed
})

it('a client may offer twenty keys', async () => {
  const key = generateKeyPair('ssh-ed25519').private
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  let tries = 0
  client.connect({
    ...{ host: '127.0.0.1', port: world.port, username: dockId },
    authHandler: (_methods, _partial, next) => {
      tries += 1
      next({ type: 'publickey', username: dockId, key })
    },
  })
  await once(client, 'close')
  expect(tries).toBe(limits.ssh.loginAttemptsMax + 1)
})

/** Not `once` of Node, which fails if the connection is reset: what is on its way to a destroyed socket does that. */
const closed = (client: ssh2.Client): Promise<void> =>
  new Promise((resolve) => {
    client.once('close', () => resolve())
  })

it('a client that signs wrongly is disconnected, so that it does not make the gateway verify again', async () => {
  // Of this type, ssh2's client sends whatever 64 bytes it is given.
  const parsed = ssh2.utils.parseKey(generateKeyPair('ssh-ed25519').private)
  if (parsed instanceof Error) throw parsed
  const forged = Object.assign(Object.create(parsed), { sign: () => Buffer.alloc(64) })
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  let tries = 0
  client.connect({
    ...{ host: '127.0.0.1', port: world.port, username: dockId },
    authHandler: (_methods, _partial, next) => {
      tries += 1
      next({ type: 'publickey', username: dockId, key: forged })
    },
  })
  await closed(client)
  expect(tries).toBe(1)
})

it('a client that has not signed in may not exchange keys again and again', async () => {
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  let exchanges = 0
  client.on('handshake', () => {
    exchanges += 1
    const protocol: unknown = Reflect.get(client, '_protocol')
    Reflect.apply(Reflect.get(Object(protocol), 'rekey'), protocol, [])
  })
  const never = (): void => undefined
  client.connect({ host: '127.0.0.1', port: world.port, username: dockId, authHandler: never })
  await closed(client)
  expect(exchanges).toBeGreaterThan(0)
  expect(exchanges).toBeLessThanOrEqual(2)
})

it('an address may connect only so often in a minute', async () => {
  const { max } = rateLimits.sshConnections
  let count = 0
  // A window may end in the middle.
  for (let isGreeted = true; isGreeted && count <= 2 * max; count += 1) {
    const opened = await open('127.77.0.1')
    isGreeted = opened.isGreeted
    opened.socket.destroy()
  }
  expect(count).toBeGreaterThan(max)
  expect(count).toBeLessThanOrEqual(2 * max)
  expect((await world.client.ssh(dockId, 'echo in')).stdout).toBe('in\n')
})

it('a connection that asks whether the gateway is there is answered', async () => {
  const options = ['-o', 'ServerAliveInterval=1', '-o', 'ServerAliveCountMax=1']
  expect(await world.client.ssh(dockId, ...options, 'sleep 3; echo lives')).toMatchObject({
    ...{ code: 0, stdout: 'lives\n' },
  })
})
