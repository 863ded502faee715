import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DockState } from '../docks/dock-state.ts'
import { connectPort } from './connect-port.ts'
import { openSocket } from './open-socket.ts'

const address = '127.0.0.1'
let server: ReturnType<typeof createServer>
let port: number
let uses: number
/** Where the relay leads; null: nothing listens on the Dock's loopback either. */
let relayed: (() => Promise<Socket | null>) | null

beforeEach(async () => {
  uses = 0
  relayed = null
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    socket.on('end', () => socket.write('heard the end'))
    socket.on('data', () => socket.end('over'))
  })
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  port = (server.address() as { port: number }).port
})
afterEach(() => server.close())

/** A Dock at this machine's loopback, as far as a connection sees it. */
const dock = (ip: string | null = address) =>
  ({
    use: async () => {
      uses += 1
      return { sandbox: {}, release: () => (uses -= 1) }
    },
    record: { ip },
    relay: { connect: async () => relayed?.() ?? null },
  }) as unknown as DockState

test('a Dock is in use, and so awake, until the connection is closed both ways', async () => {
  const socket = await connectPort(dock(), port, { generation: 1 })
  expect(uses).toBe(1)
  socket.end()
  await once(socket, 'data')
  expect(uses).toBe(1)
  socket.destroy()
  await once(socket, 'close')
  expect(uses).toBe(0)
})

test('two connections are two uses, and a program that ends one leaves the other', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => connectPort(dock(), port, { generation: 1 })))
  expect(uses).toBe(2)
  one!.end('last')
  await once(one!.resume(), 'close')
  expect(uses).toBe(1)
  other!.destroy()
  await once(other!, 'close')
  expect(uses).toBe(0)
})

test('a server on the loopback of the Dock is reached by the relay, and counts the same', async () => {
  relayed = () => openSocket(address, port)
  const socket = await connectPort(dock('127.99.99.99'), port, { generation: 1 })
  expect(uses).toBe(1)
  socket.destroy()
  await once(socket, 'close')
  expect(uses).toBe(0)
})

test('where nothing listens, and where there is no address, the use is over at once', async () => {
  await expect(connectPort(dock('127.99.99.99'), port, { generation: 1 })).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(connectPort(dock(null), port, { generation: 1 })).rejects.toMatchObject({
    code: 'not_running',
  })
  expect(uses).toBe(0)
})
