/** The HTTP server: header limit, client timeouts, WebSocket upgrades, hosted ports, and graceful shutdown. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, ListenOptions, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'
import {
  noticeLostPeers,
  type Precedence,
  refuseSocket,
  runDescribed,
  systemClock,
  waitAtMost,
} from '@dock/foundation'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { HttpApp } from './app.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { refuseBrokenRequest } from './refuse-broken-request.ts'
import { limitRequestTime } from './request-time.ts'
import { markFromRoot } from './root-socket.ts'
import { takeHttp2 } from './take-http2.ts'

/** Limit of the address and all headers of a request together. A little more than the 32 KiB that callers may count on. */
const headerBytesMax = limits.http.headerBytesMax + 8 * 1024
const keepAliveTimeoutMs = 65_000

/** Timeouts for the client's part of an exchange. The server's own processing time does not count. */
export type ClientTimeouts = {
  headersMs: number
  /** The whole request, headers and body. */
  requestMs: number
  /** Time without traffic while the client should send, or should read the response. */
  silenceMs: number
  /** Time to read that an upgrade was refused, and to disconnect. */
  refusedMs: number
  /** A client that reset its connection is noticed within twice this time, although nothing is read from it. */
  lostMs: number
}
const defaultTimeouts: ClientTimeouts = {
  headersMs: 15_000,
  requestMs: 60_000,
  silenceMs: 15 * 60_000,
  refusedMs: 5_000,
  lostMs: 30_000,
}

/** Resolves with `'host'` if the connection has proved to be that of a host. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<'host' | undefined>

/** Other traffic on the same listening socket. */
export type ConnectionHandlers = {
  /** Returns the handler of an upgrade of the service, by path and protocol (mostly `websocket`). */
  upgradeOf(path: string, protocol: string): Upgrade | undefined
  /** Hosted ports. Their requests are recognized by `Host` only. Null if hosted ports are off. */
  ports: {
    takes(request: IncomingMessage): boolean
    handle(request: IncomingMessage, response: ServerResponse): Promise<void>
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
    acceptHttp2(socket: Socket): void
  } | null
}

export type HttpServer = {
  port: number
  /** Stops accepting connections. Resolves when all requests are answered, or after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>
  /** Closes all remaining connections. */
  close(): void
}

const unknownUpgrade = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

const pathOf = (request: IncomingMessage): string => request.url?.split('?')[0] ?? ''

/** Names of what is not a request of the API, in the log. The address of a port and a ticket are secret. */
const describePort = () => ({ gateway: 'port' })
const describeUpgrade = () => ({ gateway: 'upgrade' })

const protocolOf = (request: IncomingMessage): string => request.headers.upgrade?.toLowerCase() ?? ''

/** Listens on `bind:port` (port 0 picks a free port), or on inherited sockets. */
export async function serveHttp(options: {
  app: HttpApp
  connectionHandlers: ConnectionHandlers
  /** Every API request takes precedence over the bodies of hosted ports. */
  precedence: Precedence
  bind: string
  port: number
  /** Limits the connections that do not come from root. Undefined: no limit. */
  connectionLimits?: ConnectionLimits | undefined
  /**
   * File descriptors of inherited listening sockets. `publicFd` replaces `bind:port`; only root can connect to
   * `rootFd`.
   */
  listening?: { publicFd: number | undefined; rootFd: number | undefined }
  timeouts?: ClientTimeouts
  /** Called with unexpected errors of upgrades and hosted ports. */
  onConnectionError(error: unknown): void
}): Promise<HttpServer> {
  const timeouts = options.timeouts ?? defaultTimeouts
  const { connectionHandlers, precedence, connectionLimits, onConnectionError } = options
  const upgradeOf = (request: IncomingMessage): Upgrade | undefined =>
    connectionHandlers.ports?.takes(request)
      ? undefined
      : connectionHandlers.upgradeOf(pathOf(request), protocolOf(request))
  // The socket timeout is off while the server processes a request: a create that clones repositories can take half an
  // hour without traffic.
  const answer = getRequestListener(async (request, bindings) => {
    const { socket } = (bindings as HttpBindings).incoming
    socket.setTimeout(0)
    try {
      return await options.app.fetch(request, bindings)
    } finally {
      socket.setTimeout(timeouts.silenceMs)
    }
  })
  const noticeLost = noticeLostPeers(timeouts.lostMs)
  let underWay = 0
  let whenIdle: (() => void) | undefined
  const servers: Server[] = []
  let isDraining = false
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const cancel = limitRequestTime(request, timeouts.requestMs)
    precedence.take()
    underWay += 1
    response.shouldKeepAlive &&= !isDraining
    response.once('close', () => {
      cancel()
      underWay -= 1
      // A response sent before the drain kept its connection alive. Close such connections once they are idle.
      if (isDraining) for (const each of servers) each.closeIdleConnections()
      if (underWay === 0) whenIdle?.()
    })
    void answer(request, response)
  }
  const makeServer = (): Server => {
    const server = createServer({
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: timeouts.headersMs,
      // Requests of hosted ports have no time limit. API requests are limited one by one.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(timeouts.headersMs, 5_000),
      // An offer to upgrade to any other protocol is ignored, and the request is served as HTTP/1.1.
      shouldUpgradeCallback: (request) =>
        protocolOf(request) === 'websocket' || upgradeOf(request) !== undefined,
    })
    server.timeout = timeouts.silenceMs
    server.on('connection', noticeLost)
    server.on('request', (request, response) => {
      if (!connectionHandlers.ports?.takes(request)) return serve(request, response)
      // Connections of hosted ports have no idle timeout.
      request.socket.setTimeout(0)
      const { handle } = connectionHandlers.ports
      runDescribed(describePort, () => handle(request, response)).catch((error: unknown) => {
        onConnectionError(error)
        response.destroy()
      })
    })
    server.on('clientError', (error, connection) => {
      const { ports } = connectionHandlers
      const socket = ports && takeHttp2(error, connection)
      if (socket) ports?.acceptHttp2(socket)
      else refuseBrokenRequest(error, connection)
    })
    server.on('upgrade', (request, socket: Socket, head) => {
      // The upgraded protocol has its own idle timeout.
      socket.setTimeout(0)
      const isForPort = connectionHandlers.ports?.takes(request) === true
      const upgrade = isForPort ? connectionHandlers.ports?.upgrade : upgradeOf(request)
      if (!upgrade) return refuseSocket(socket, unknownUpgrade, { lingerMs: timeouts.refusedMs })
      const describe = isForPort ? describePort : describeUpgrade
      runDescribed(describe, () => upgrade(request, socket, head)).then(
        (owner) => {
          if (owner === 'host') connectionLimits?.release(socket)
        },
        (error: unknown) => {
          onConnectionError(error)
          socket.destroy()
        },
      )
    })
    return server
  }
  const listen = (server: Server, where: ListenOptions | { fd: number }): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(where, () => {
        server.off('error', reject)
        resolve()
      })
    })
  const { publicFd, rootFd } = options.listening ?? {}
  const server = makeServer()
  if (connectionLimits) server.prependListener('connection', connectionLimits.admit)
  await listen(server, publicFd === undefined ? { port: options.port, host: options.bind } : { fd: publicFd })
  servers.push(server)
  if (rootFd !== undefined) {
    const rootServer = makeServer()
    rootServer.on('connection', markFromRoot)
    await listen(rootServer, { fd: rootFd })
    servers.push(rootServer)
  }
  return {
    port: (server.address() as AddressInfo).port,
    drain: async (timeoutMs) => {
      isDraining = true
      for (const each of servers) {
        each.close()
        each.closeIdleConnections()
      }
      if (underWay === 0) return
      const idle = Promise.withResolvers<void>()
      whenIdle = idle.resolve
      await waitAtMost(systemClock, timeoutMs, idle.promise)
    },
    close: () => {
      for (const each of servers) each.closeAllConnections()
    },
  }
}
