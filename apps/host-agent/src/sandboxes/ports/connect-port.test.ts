import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DockState } from '../dock-state.ts'
import { connectPort } from './connect-port.ts'
import { openSocket } from './open-socket.ts'

const address = '127.0.0.1'
let server: ReturnType<typeof createServer>
let port: number
let uses: number
/** The port that the relay connects to, or null if nothing listens on the Dock's loopback either. */
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

/** A minimal Dock whose address is this machine's loopback. */
const dock = (ip: string | null = address) =>
  ({
    use: async () => {
      uses += 1
      return { sandbox: {}, release: () => (uses -= 1) }
    },
    record: { ip },
    relay: { connect: async () => relayed?.() ?? null },
  }) as unknown as DockState

test('keeps a Dock in use until the connection is closed in both directions', async () => {
  const socket = await connectPort(dock(), port, { generation: 1 })
  expect(uses).toBe(1)
  socket.end()
  await once(socket, 'data')
  expect(uses).toBe(1)
  socket.destroy()
  await once(socket, 'close')
  expect(uses).toBe(0)
})

test('counts two connections as two uses, and ends them independently', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => connectPort(dock(), port, { generation: 1 })))
  expect(uses).toBe(2)
  one!.end('last')
  await once(one!.resume(), 'close')
  expect(uses).toBe(1)
  other!.destroy()
  await once(other!, 'close')
  expect(uses).toBe(0)
})

test('reaches a server on the loopback of the Dock through the relay, and counts it as a use', async () => {
  relayed = () => openSocket(address, port)
  const socket = await connectPort(dock('127.99.99.99'), port, { generation: 1 })
  expect(uses).toBe(1)
  socket.destroy()
  await once(socket, 'close')
  expect(uses).toBe(0)
})

test('ends the use at once if nothing listens or the Dock has no address', async () => {
  await expect(connectPort(dock('127.99.99.99'), port, { generation: 1 })).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(connectPort(dock(null), port, { generation: 1 })).rejects.toMatchObject({
    code: 'not_running',
  })
  expect(uses).toBe(0)
})
