import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { type AgentLink, acceptLink } from './accept-link.ts'
import { bindArrived, createDialBackListener, dialBackPath, dialBackProtocol } from './dial-back.ts'
import { dialLink } from './dial-link.ts'
import { HostUnreachable } from './link-errors.ts'
import type { IncomingConnection } from './serve-connection.ts'

let server: Server
let listener: ReturnType<typeof createDialBackListener>
let link: AgentLink
let cut: () => void
let stop: AbortController
/** Simulates a proxy in front of the control plane that supports no upgrade other than WebSocket. */
let onlyWebSockets: boolean
/** The agent's side of the last connection. */
let taken: PromiseWithResolvers<{ stream: Duplex; connection: IncomingConnection }>
const logger = createLogger('test')
logger.level = 'silent'

describe.each([
  { by: 'address', isUnix: false },
  { by: 'Unix socket', isUnix: true },
])('by $by', ({ isUnix }) => {
  const path = join(tmpdir(), `dock-dial-back-${process.pid}.sock`)

  beforeEach(async () => {
    listener = createDialBackListener()
    stop = new AbortController()
    onlyWebSockets = false
    taken = Promise.withResolvers()
    const linked = Promise.withResolvers<void>()
    const sockets = new WebSocketServer({ noServer: true })
    server = createServer((_, response) => response.writeHead(400).end())
    server.on('upgrade', (request, raw, head) => {
      if (request.url === dialBackPath && onlyWebSockets)
        return void raw.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      if (request.url === dialBackPath) return listener.upgrade(request, raw, head)
      sockets.handleUpgrade(request, raw, head, (socket) => {
        link = acceptLink(socket)
        cut = () => raw.destroy()
        linked.resolve()
      })
    })
    await new Promise<void>((resolve) =>
      server.listen(isUnix ? { path } : { port: 0, host: '127.0.0.1' }, resolve),
    )
    void dialLink({
      url: isUnix ? `unix:${path}` : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ...{ credential: 'right', hostId: 'host-1', session: 'session-1', channel: 'bulk' },
      ...{ signal: stop.signal, logger },
      handler: () => new Response(),
      connect: async (connection) =>
        taken.resolve({ stream: await connection.acceptByDialBack(), connection }),
    })
    await linked.promise
  })

  afterEach(async () => {
    stop.abort()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const open = async () => {
    const expected = listener.expect()
    const asked = await link.connect('/', { ticket: expected.ticket })
    const { stream, connection } = await taken.promise
    expected.forget()
    if (expected.socket) bindArrived(expected.socket, asked)
    return { ...expected, socket: expected.socket, asked, agent: stream, connection }
  }
  const textOf = async (stream: Duplex): Promise<string> => Buffer.concat(await stream.toArray()).toString()
  const closed = async (stream: Duplex): Promise<void> => {
    stream.on('error', () => undefined).resume()
    if (!stream.closed) await once(stream, 'close').catch(() => undefined)
  }

  test('bytes bypass the link, directions end separately, and the request on the link ends too', async () => {
    const { socket, asked, agent } = await open()
    if (!socket) throw new Error('the bytes went over the link')
    socket.end('from outside')
    expect(await textOf(agent)).toBe('from outside')
    agent.end('from inside')
    expect(await textOf(socket)).toBe('from inside')
    await closed(asked)
  })

  test('both ends close when the link breaks', async () => {
    const { socket, agent } = await open()
    if (!socket) throw new Error('the bytes went over the link')
    cut()
    await Promise.all([closed(socket), closed(agent)])
  })

  test('destroying one end closes the other', async () => {
    const { socket, agent, asked } = await open()
    socket?.destroy()
    await Promise.all([closed(agent), closed(asked)])
    expect(asked.errored).toBeInstanceOf(HostUnreachable)
  })

  test('if dialling back fails, the bytes go over the link', async () => {
    onlyWebSockets = true
    const { socket, asked, agent } = await open()
    expect(socket).toBeNull()
    asked.end('from outside')
    expect(await textOf(agent)).toBe('from outside')
    agent.end('from inside')
    expect(await textOf(asked)).toBe('from inside')
  })

  test('a ticket is accepted once and only while it is expected', async () => {
    const answerTo = async (ticket: string): Promise<string> => {
      const socket = connect(
        isUnix ? { path } : { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
      )
      socket.write(
        `GET ${dialBackPath} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: ${dialBackProtocol}\r\nx-dock-ticket: ${ticket}\r\n\r\n`,
      )
      const [head] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      return head.toString().split('\r\n')[0] ?? ''
    }
    const refused = 'HTTP/1.1 401 Unauthorized'
    const first = listener.expect()
    expect(await answerTo(`${first.ticket}x`)).toBe(refused)
    expect(await answerTo(first.ticket)).toBe('HTTP/1.1 101 Switching Protocols')
    expect(first.socket).not.toBeNull()
    expect(await answerTo(first.ticket)).toBe(refused)
    first.socket?.destroy()
    const second = listener.expect()
    second.forget()
    expect(await answerTo(second.ticket)).toBe(refused)
  })
})
