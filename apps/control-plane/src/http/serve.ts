/** The listening socket: header limit, WebSocket upgrades, an end that lets requests under way finish. */
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import type { HttpApp } from './app.ts'

/** Bytes of all headers of a request. */
const headerBytesMax = 16 * 1024
const keepAliveTimeoutMs = 65_000

/** How long a client may take over its part; the time that we take over ours is not counted. */
export type ClientPatience = {
  headersMs: number
  /** The whole request, headers and body. */
  requestMs: number
  /** A connection on which nothing moves; longer than the longest command. */
  silenceMs: number
}
const usualPatience: ClientPatience = { headersMs: 15_000, requestMs: 60_000, silenceMs: 15 * 60_000 }

export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>

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

/** Listens on `bind:port` (0 for any free port). Upgrades go by exact path. */
export const serveHttp = async (options: {
  app: HttpApp
  upgrades: Readonly<Record<string, Upgrade>>
  bind: string
  port: number
  patience?: ClientPatience
  onUpgradeError(error: unknown): void
}): Promise<HttpServer> => {
  const patience = options.patience ?? usualPatience
  const server = createAdaptorServer({
    fetch: options.app.fetch,
    serverOptions: {
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      connectionsCheckingInterval: Math.min(patience.headersMs, 5_000),
    },
  }) as Server
  server.timeout = patience.silenceMs
  let underWay = 0
  let whenIdle: (() => void) | undefined
  server.on('request', (_, response) => {
    underWay += 1
    response.once('close', () => {
      underWay -= 1
      if (underWay === 0) whenIdle?.()
    })
  })
  server.on('upgrade', (request, socket: Socket, head) => {
    // What it becomes has its own rules of when silence ends it.
    socket.setTimeout(0)
    const path = pathOf(request)
    const upgrade = Object.hasOwn(options.upgrades, path) ? options.upgrades[path] : undefined
    if (!upgrade) return refuseUpgrade(socket)
    upgrade(request, socket, head).catch((error: unknown) => {
      options.onUpgradeError(error)
      socket.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.bind, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    drain: async (patienceMs) => {
      server.close()
      server.closeIdleConnections()
      if (underWay === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patienceMs)
        whenIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
    close: () => server.closeAllConnections(),
  }
}
