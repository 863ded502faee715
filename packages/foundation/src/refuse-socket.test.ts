import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { destroySoon, refuseSocket } from './refuse-socket.ts'

/** A connection whose ends close on their own only, as those of a server for upgrades do. */
let client: Socket
let server: Socket
let close: () => void
beforeEach(async () => {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  client = connect({ port: (listener.address() as AddressInfo).port, allowHalfOpen: true })
  ;[server] = (await once(listener, 'connection')) as [Socket]
  close = () => {
    client.destroy()
    server.destroy()
    listener.close()
  }
})
afterEach(() => close())

const lingerMs = 50

describe('refuseSocket', () => {
  it('tells the client why, and cuts off a client that keeps its half open', async () => {
    client.write('x'.repeat(200_000))
    const closed = once(server, 'close')
    refuseSocket(server, 'HTTP/1.1 404 Not Found\r\n\r\n', { lingerMs })
    const [told] = (await once(client, 'data')) as [Buffer]
    expect(told.toString()).toContain('404 Not Found')
    expect(server.destroyed).toBe(false)
    await closed
  })

  it('cuts off a client that reads nothing', async () => {
    const closed = once(server, 'close')
    while (server.write(Buffer.alloc(2 ** 20))) {}
    refuseSocket(server, 'HTTP/1.1 404 Not Found\r\n\r\n', { lingerMs })
    await closed
    expect(server.bytesWritten).toBeGreaterThan(0)
  })

  it('ends with a client that closes', async () => {
    const closed = once(server, 'close')
    refuseSocket(server, 'refused', { lingerMs: 60_000 })
    client.resume().end()
    await closed
  })

  it('closes a connection that can tell nothing, and survives a reset', async () => {
    const closed = new Promise((resolve) => server.once('close', resolve))
    destroySoon(server, { lingerMs: 60_000 })
    client.resetAndDestroy()
    await closed
    refuseSocket(server, 'refused')
    expect(server.destroyed).toBe(true)
  })
})
