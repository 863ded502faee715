import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isIn } from '../client-address.ts'
import { type ConnectionLimits, createConnectionLimits, shareConnections } from './connection-limits.ts'

const proxy = '127.0.0.9'
let server: Server
let limits: ConnectionLimits
let accepted: Socket[]
let refused: string[]
let clients: Socket[]

beforeEach(async () => {
  accepted = []
  refused = []
  clients = []
  limits = createConnectionLimits({
    shares: { total: 6, perAddress: 1, perNetwork: 3, perLoopback: 2 },
    isTrustedProxy: isIn([proxy]),
    onRefused: (network) => refused.push(network),
  })
  server = createServer((socket) => {
    socket.on('error', () => undefined)
    limits.admit(socket)
    if (!socket.destroyed) accepted.push(socket.on('end', () => socket.end()).resume())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  for (const client of clients) client.destroy()
  server.close()
})

/** Connects from an address of this machine. Resolves with whether the connection stays open. */
const open = async (localAddress: string): Promise<boolean> => {
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', localAddress })
  clients.push(client.on('error', () => undefined).resume())
  const before = accepted.length
  await Promise.race([
    once(client, 'close'),
    expect.poll(() => accepted.length, { timeout: 5_000 }).toBeGreaterThan(before),
  ])
  return accepted.length > before
}
const leave = async (socket: Socket | undefined): Promise<void> => {
  const closed = once(socket!, 'close')
  socket?.destroy()
  await closed
}

describe('connection limits', () => {
  it('give each address its share, and its place back when a connection closes', async () => {
    expect([await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2')]).toEqual([
      true,
      true,
      false,
    ])
    expect(await open('127.0.0.3')).toBe(true)
    await leave(accepted[0])
    expect([await open('127.0.0.2'), await open('127.0.0.2')]).toEqual([true, false])
    expect(refused).toEqual(['127.0.0.2'])
  })

  it('count those of a trusted proxy in the total alone', async () => {
    for (let n = 0; n < 6; n += 1) expect(await open(proxy)).toBe(true)
    expect(await open(proxy)).toBe(false)
    expect(await open('127.0.0.2')).toBe(false)
    await leave(accepted[3])
    expect(await open('127.0.0.2')).toBe(true)
  })

  it('count none that a host has proved to be its own, not even when it closes', async () => {
    expect([await open('127.0.0.2'), await open('127.0.0.2')]).toEqual([true, true])
    limits.release(accepted[0]!)
    limits.release(accepted[0]!)
    expect([await open('127.0.0.2'), await open('127.0.0.2')]).toEqual([true, false])
    await leave(accepted[0])
    expect(await open('127.0.0.2')).toBe(false)
  })

  it('count the addresses of one network of IPv6 as one', () => {
    const counted = createConnectionLimits({
      shares: { total: 20, perAddress: 2, perNetwork: 4, perLoopback: 2 },
      isTrustedProxy: isIn(['2001:db8:1::/48']),
      onRefused: (network) => refused.push(network),
    })
    const arrive = (remoteAddress: string): boolean => {
      const socket = {
        remoteAddress,
        destroyed: false,
        once: () => undefined,
        destroy: () => {
          socket.destroyed = true
        },
      }
      counted.admit(socket as unknown as Socket)
      return !socket.destroyed
    }
    expect(['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].map(arrive)).toEqual([
      true,
      true,
      false,
      true,
    ])
    expect(refused).toEqual(['2001:db8:0:0::/64'])
    expect(['2001:db8:1::1', '2001:db8:1::1', '2001:db8:1::1'].map(arrive)).toEqual([true, true, true])
    expect(['::ffff:192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1'].map(arrive)).toEqual([true, true, false])
    // One sender may have a whole /48 of IPv6, or a /24 of IPv4.
    expect(['2001:db8:0:2::1', '2001:db8:0:3::1', '2001:db8:2:1::1'].map(arrive)).toEqual([true, false, true])
    expect(['192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.3.1'].map(arrive)).toEqual([
      true,
      true,
      false,
      true,
    ])
  })
})

describe('the shares', () => {
  const halves = (half: number) => ({ perNetwork: half, perLoopback: half })
  it('leave most descriptors to the streams of Docks, the database and SSH', () => {
    expect(shareConnections(20_000)).toEqual({ total: 8_000, perAddress: 1_000, ...halves(4_000) })
    expect(shareConnections(4_096)).toEqual({ total: 1_638, perAddress: 204, ...halves(819) })
    expect(shareConnections(1_000_000)).toEqual({ total: 20_000, perAddress: 1_000, ...halves(10_000) })
    expect(shareConnections(1_024)).toEqual({ total: 409, perAddress: 64, ...halves(204) })
  })
  it('are those of this process if nothing else is said', () => {
    expect(shareConnections().total).toBeGreaterThan(100)
  })
})
