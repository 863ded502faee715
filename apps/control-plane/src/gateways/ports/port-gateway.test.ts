/** Tests the gateway alone, with programs on this machine in place of programs in Docks. */
import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, request, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createConnectionServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger, Precedence } from '@dock/foundation'
import { Hono } from 'hono'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { PortRoutes } from '../../modules/ports/index.ts'
import type { HttpEnvironment } from '../../server/request-context.ts'
import { type HttpServer, serveHttp } from '../../server/serve.ts'
import { createPortGateway, type PortGateway } from './index.ts'

const logger = createLogger('test')
logger.level = 'silent'
const label = 'abcdefghij234567abcd'

let gateway: PortGateway
let server: HttpServer
/** A program that responds to every request with an endless stream. */
let program: Server
let find: PortRoutes['find']
/** The gateway's latest connection to a program. */
let dialled: Socket

const portOf = (listening: Server): number => (listening.address() as AddressInfo).port
beforeEach(async () => {
  program = createServer((_, response) => void response.write('begin'))
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  find = async () => ({
    label,
    port: portOf(program),
    dockId: 'd',
    state: 'ready',
    generation: 1,
    hostId: 'h',
    keepsHost: false,
  })
  const precedence = new Precedence()
  gateway = createPortGateway({
    domain: { scheme: 'http', domain: 'docks.localhost', port: undefined },
    routes: { find: (wanted) => find(wanted), notice: () => undefined },
    hosts: {
      connectPort: async ({ port }) => {
        const socket = connect({ host: '127.0.0.1', port })
        await once(socket, 'connect')
        dialled = socket
        return socket
      },
    },
    precedence,
    clientAddress: () => '127.0.0.1',
    logger,
  })
  server = await serveHttp({
    app: new Hono<HttpEnvironment>(),
    connectionHandlers: { upgradeOf: () => undefined, ports: gateway },
    precedence,
    bind: '127.0.0.1',
    port: 0,
    timeouts: { headersMs: 15_000, requestMs: 60_000, silenceMs: 60_000, refusedMs: 5_000, lostMs: 50 },
    onConnectionError: () => undefined,
  })
})
afterEach(async () => {
  await server.drain(0)
  server.close()
  gateway.close()
  program.close()
  program.closeAllConnections()
})

const open = (headers: Record<string, string> = {}): ClientRequest => {
  const host = `${portOf(program)}-${label}.docks.localhost`
  const outgoing = request({ port: server.port, headers: { host, ...headers }, agent: false }).end()
  return outgoing.on('error', () => undefined)
}
const answerOf = async (outgoing: ClientRequest): Promise<IncomingMessage> => {
  const signal = AbortSignal.timeout(10_000)
  return ((await once(outgoing, 'response', { signal })) as [IncomingMessage])[0]
}
const pageOf = async (outgoing: ClientRequest): Promise<[number | undefined, string]> => {
  const answer = await answerOf(outgoing)
  return [answer.statusCode, Buffer.concat(await answer.toArray()).toString()]
}

it('responds with a page, without waiting, once a port has reached its limit of connections', async () => {
  const streams = Array.from({ length: 256 }, () => open())
  await Promise.all(streams.map(answerOf))
  const crowded = [503, expect.stringContaining('Too many connections')]
  expect(await pageOf(open())).toEqual(crowded)
  expect(await pageOf(open({ connection: 'Upgrade', upgrade: 'websocket' }))).toEqual(crowded)
  streams[0]?.destroy()
  await expect.poll(async () => (await answerOf(open())).statusCode).toBe(200)
})

it('responds with 502 to HTTP and WebSockets when the port cannot be looked up', async () => {
  find = async () => {
    throw new Error('the database is away')
  }
  const page = [502, expect.stringContaining('could not be looked up')]
  expect(await pageOf(open())).toEqual(page)
  expect(await pageOf(open({ connection: 'Upgrade', upgrade: 'websocket' }))).toEqual(page)
})

it.each([
  ['a body', 'POST / HTTP/1.1\r\nContent-Length: 99999999\r\n'],
  ['an upgraded connection', 'GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'],
])('closes the connection to a program that does not read %s once the client is gone', async (_, head) => {
  const reader = createConnectionServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(reader, 'listening')
  const { port } = reader.address() as AddressInfo
  const route = await find('')
  find = async () => ({ ...route!, port })
  const client = connect(server.port, '127.0.0.1').on('error', () => undefined)
  client.write(`${head}Host: ${port}-${label}.docks.localhost\r\n\r\n`)
  await once(reader, 'connection')
  client.write(Buffer.alloc(64 * 2 ** 20))
  // The upload stops when all buffers are full.
  for (let sent = -1; sent !== client.bytesWritten - client.writableLength; await delay(200))
    sent = client.bytesWritten - client.writableLength
  const closed = once(dialled, 'close').catch(() => undefined)
  client.resetAndDestroy()
  await closed
  reader.close()
})
