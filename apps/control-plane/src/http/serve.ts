/** The listening socket: header limit, WebSocket upgrades, hosted ports, an end that lets requests under way finish. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, ListenOptions, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Precedence } from '@dock/foundation'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { HttpApp } from './app.ts'
import { refuseBrokenRequest } from './refuse-broken-request.ts'
import { markFromRoot } from './root-door.ts'

/** Bytes of all headers of a request. */
const headerBytesMax = 16 * 1024
const keepAliveTimeoutMs = 65_000

/** How long a client may take over its part; the time that we take over ours is not counted. */
export type ClientPatience = {
  headersMs: number
  /** The whole request, headers and body. */
  requestMs: number
  /** A connection on which nothing moves while it is the client's turn: to send, or to read what we answer. */
  silenceMs: number
}
const usualPatience: ClientPatience = { headersMs: 15_000, requestMs: 60_000, silenceMs: 15 * 60_000 }

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>

/** What else comes in at the same socket. */
export type Doors = {
  /** Upgrades of the service, mostly to `websocket`, by path. */
  upgradeOf(path: string, protocol: string): Upgrade | undefined
  /** What is for hosted ports, told by its `Host` and by nothing else; null while there are none. */
  ports: {
    takes(request: IncomingMessage): boolean
    handle(request: IncomingMessage, response: ServerResponse): Promise<void>
    upgrade: Upgrade
  } | null
}

export type HttpServer = {
  port: number
  /** Takes no new connections; resolves when requests under way are answered, or after `patienceMs`. */
  drain(patienceMs: number): Promise<void>
  /** Cuts what is left. */
  close(): void
}

const refuseUpgrade = (socket: Duplex): void => {
  socket.on('error', () => socket.destroy())
  socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
}

const pathOf = (request: IncomingMessage): string => request.url?.split('?')[0] ?? ''

const protocolOf = (request: IncomingMessage): string => request.headers.upgrade?.toLowerCase() ?? ''

/** Ends a request whose body has not come by then; the answer cancels it. */
const hurry = (request: IncomingMessage, requestMs: number): (() => void) => {
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
  }, requestMs)
  return () => clearTimeout(timer)
}

/** Listens on `bind:port` (0 for any free port), or on sockets that were handed over. */
export async function serveHttp(options: {
  app: HttpApp
  doors: Doors
  /** Taken by every request of the service's own. */
  precedence: Precedence
  bind: string
  port: number
  /** File descriptors of sockets that already listen: one replaces `bind:port`, the other is reachable by root only. */
  listening?: { publicFd: number | undefined; rootFd: number | undefined }
  patience?: ClientPatience
  /** Told of what a door did not expect. */
  onDoorError(error: unknown): void
}): Promise<HttpServer> {
  const patience = options.patience ?? usualPatience
  const { doors, precedence, onDoorError } = options
  const upgradeOf = (request: IncomingMessage): Upgrade | undefined =>
    doors.ports?.takes(request) ? undefined : doors.upgradeOf(pathOf(request), protocolOf(request))
  // A create that clones repositories takes half an hour at most, and nothing moves meanwhile.
  const answer = getRequestListener(async (request, bindings) => {
    const { socket } = (bindings as HttpBindings).incoming
    socket.setTimeout(0)
    try {
      return await options.app.fetch(request, bindings)
    } finally {
      socket.setTimeout(patience.silenceMs)
    }
  })
  let underWay = 0
  let whenIdle: (() => void) | undefined
  const servers: Server[] = []
  let isDraining = false
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const cancel = hurry(request, patience.requestMs)
    precedence.take()
    underWay += 1
    response.shouldKeepAlive &&= !isDraining
    response.once('close', () => {
      cancel()
      underWay -= 1
      // The answer promised to keep the connection before the server began to drain.
      if (isDraining) for (const each of servers) each.closeIdleConnections()
      if (underWay === 0) whenIdle?.()
    })
    void answer(request, response)
  }
  const makeServer = (): Server => {
    const server = createServer({
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: patience.headersMs,
      // A hosted port's requests take the time that they take; the service's own are hurried one by one.
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(patience.headersMs, 5_000),
      // Whoever offers another protocol is answered in this one.
      shouldUpgradeCallback: (request) =>
        protocolOf(request) === 'websocket' || upgradeOf(request) !== undefined,
    })
    server.timeout = patience.silenceMs
    server.on('request', (request, response) => {
      if (!doors.ports?.takes(request)) return serve(request, response)
      // Neither is their silence ours to judge.
      request.socket.setTimeout(0)
      doors.ports.handle(request, response).catch((error: unknown) => {
        onDoorError(error)
        response.destroy()
      })
    })
    server.on('clientError', refuseBrokenRequest)
    server.on('upgrade', (request, socket: Socket, head) => {
      // What it becomes has its own rules of when silence ends it.
      socket.setTimeout(0)
      const upgrade = doors.ports?.takes(request) ? doors.ports.upgrade : upgradeOf(request)
      if (!upgrade) return refuseUpgrade(socket)
      upgrade(request, socket, head).catch((error: unknown) => {
        onDoorError(error)
        socket.destroy()
      })
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
    drain: async (patienceMs) => {
      isDraining = true
      for (const each of servers) {
        each.close()
        each.closeIdleConnections()
      }
      if (underWay === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patienceMs)
        whenIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    close: () => {
      for (const each of servers) each.closeAllConnections()
    },
  }
}
