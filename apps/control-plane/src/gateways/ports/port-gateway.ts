/**
 * The gateway for hosted ports. It forwards HTTP/1.1, HTTP/2 and WebSockets for names below the ports' domain to the Dock that
 * the name belongs to. Knowing the label is the only permission needed. The platform's own credentials are removed.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  destroySoon,
  type Logger,
  type Precedence,
  refuseSocket,
  throttleLargeStream,
} from '@dock/foundation'
import { createProxyServer, type ProxyServerOptions } from 'httpxy'
import type { ClientAddress } from '../../client-address.ts'
import { type HostGateway, HostRefused, HostUnreachable } from '../../modules/hosts/index.ts'
import { type PortRoutes, type PortsDomain, readHost } from '../../modules/ports/index.ts'
import { ConnectionCounts, TooManyConnections } from './connection-counts.ts'
import { DockAgent, hostOf } from './dock-agent.ts'
import { createPortHttp2Server } from './http2-server.ts'
import { localHost, restorePublicHost } from './local-host.ts'
import { OpenStreams } from './open-streams.ts'
import { type Problem, problemAnswer, problemOfState, problems } from './problem-page.ts'
import { cleanRequestHeaders } from './request-headers.ts'
import { cleanReason, cleanResponseHeaders, hasClearEnd, isFinalStatus } from './response-headers.ts'

export type PortGateway = {
  /** True if the request's `Host` is in the ports' domain. Then no other handler may serve it. */
  takes(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Serves a connection that begins with the preface of HTTP/2. */
  acceptHttp2(socket: Socket): void
  /** Handles a notification of the PostgreSQL channel `port_routes`. Closes streams whose label no longer exists. */
  notice(label?: string): void
  /** Closes every connection to Docks. */
  close(): void
}

/** `localHost` is the host that the program sees, if it is not the public one. */
type Target = {
  label: string
  localHost: string | undefined
  place: { hostId: string; dockId: string; generation: number }
  port: number
  options: ProxyServerOptions
}

/** Safe methods: with no body, such a request can be sent a second time without an effect. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
const isRepeatable = ({ method = '', headers }: IncomingMessage): boolean =>
  safeMethods.has(method) &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined

/** True if no connection could be opened. The failure is then not due to a kept connection that had just closed. */
const isUnconnected = (error: unknown): boolean =>
  error instanceof HostRefused || error instanceof HostUnreachable || error instanceof TooManyConnections

const problemOf = (error: unknown): Problem => {
  if (error instanceof TooManyConnections) return problems.tooManyConnections
  if (error instanceof HostUnreachable) return problems.unreachable
  if (!(error instanceof HostRefused)) return problems.badResponse
  if (error.code === 'not_found') return problems.notListening
  if (error.code === 'not_running' || error.code === 'stale_generation') return problems.stopped
  return problems.unreachable
}

/**
 * Ends the connection in the Dock of a client that has left. What it sent last may still be on its way; what the program
 * sends is dropped, because a stream with unread bytes never closes.
 */
const leave = (stream: Duplex): void => {
  if (!stream.writableEnded) return void stream.destroy()
  destroySoon(stream)
  stream.resume()
}

export function createPortGateway(parts: {
  domain: PortsDomain
  routes: PortRoutes
  hosts: Pick<HostGateway, 'connectPort'>
  /** Lets API requests go before large bodies. */
  precedence: Precedence
  clientAddress: ClientAddress
  logger: Logger
}): PortGateway {
  const { domain, routes, precedence, logger } = parts
  const connect = (place: { hostId: string; dockId: string; generation: number }, port: number) =>
    parts.hosts.connectPort(
      { hostId: place.hostId, dockId: place.dockId, port },
      { generation: place.generation },
    )
  const counts = new ConnectionCounts()
  const agent = new DockAgent(connect, counts)
  const oneShotAgent = new DockAgent(connect, counts, false)
  const open = new OpenStreams()
  const proxy = createProxyServer()
  /** Called when forwarding a request fails before the Dock has responded. */
  const failures = new WeakMap<object, (error: unknown) => void>()
  const answered = (request: object): void => void failures.delete(request)
  proxy.on('error', (error, request) => {
    const fail = request && failures.get(request)
    if (request) answered(request)
    fail?.(error)
  })
  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    dock: IncomingMessage | Duplex,
  ): void => {
    answered(request)
    dock.destroy()
    answerProblem(request, response, problems.badResponse)
  }
  proxy.on('proxyReq', (outgoing, request, response) => {
    // Nobody asked for it. Without a listener, Node closes the connection and reports nothing.
    outgoing.once('upgrade', (_, stream) => refuse(request, response, stream))
  })
  proxy.on('proxyRes', (answer, request, response) => {
    if (!isFinalStatus(answer.statusCode) || !hasClearEnd(answer)) return refuse(request, response, answer)
    cleanReason(answer)
    cleanResponseHeaders(answer.headers, false)
    restorePublicHost(answer.headers, request.headers)
    // RFC 9112, section 6.2: such a response has neither a body nor a length.
    if (answer.statusCode === 204) delete answer.headers['content-length']
    // From here on, the header controls the client's connection instead of the Dock's. Without chunks and a length, only
    // the end of the connection ends the response.
    const hasOwnEnd = request.httpVersion !== '1.0' || answer.headers['content-length'] !== undefined
    request.headers.connection = response.shouldKeepAlive && hasOwnEnd ? 'keep-alive' : 'close'
    throttleLargeStream(answer, response, precedence)
  })
  // Runs before the library's own listeners, which copy the headers.
  proxy.on('proxyReqWs', (outgoing, request, socket) => {
    socket.once('close', () => outgoing.destroy())
    outgoing.once('upgrade', (answer, stream) => {
      socket.once('close', () => leave(stream))
      answered(request)
      cleanResponseHeaders(answer.headers, true)
    })
    outgoing.once('response', (answer) => {
      if (!hasClearEnd(answer)) {
        const fail = failures.get(request)
        answered(request)
        return fail?.(new Error('the response has no clear end'))
      }
      answered(request)
      // The library writes all three into the status line as they are.
      answer.httpVersion = '1.1'
      if (!isFinalStatus(answer.statusCode)) answer.statusCode = problems.badResponse.status
      cleanReason(answer)
      cleanResponseHeaders(answer.headers, false)
      restorePublicHost(answer.headers, request.headers)
    })
  })

  /** Returns the request's target, or a problem if it has none. */
  const targetOf = async (hosts: readonly string[], target = ''): Promise<Target | Problem> => {
    if (hosts.length !== 1 || !(target.startsWith('/') || target === '*')) return problems.badRequest
    const name = readHost(domain, hosts[0])
    if (!name) return problems.unknown
    const route = await routes.find(name.label).catch((error: unknown) => {
      logger.warn({ err: error }, 'could not look up a hosted port')
      return problems.lookupFailed
    })
    if (route && 'title' in route) return route
    if (route?.port !== name.port) return problems.unknown
    const { hostId, state, port, label, keepsHost } = route
    const problem = problemOfState(state)
    if (problem) return problem
    if (hostId === null) return problems.stopped
    return {
      label,
      localHost: keepsHost ? undefined : localHost(port),
      port,
      place: { hostId, dockId: route.dockId, generation: route.generation },
      options: { target: { protocol: 'http:', host: hostOf(route, hostId), port }, agent },
    }
  }

  const clean = (
    { headers, socket }: { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } },
    { localHost }: Pick<Target, 'localHost'>,
    upgrade: 'websocket' | null,
  ): void => {
    const forwardedFor = headers['x-forwarded-for']
    const peer = socket.remoteAddress
    const clientAddress = parts.clientAddress(peer, forwardedFor === undefined ? null : String(forwardedFor))
    cleanRequestHeaders(headers, { clientAddress, scheme: domain.scheme, localHost }, upgrade)
  }

  /** Returns the problem for a failure. Drops the cached route, since a stale route may be the cause. */
  const explain = (error: unknown, label: string): Problem => {
    routes.notice(label)
    const problem = problemOf(error)
    if (problem === problems.badResponse)
      logger.debug({ err: error }, 'a hosted port sent an invalid or incomplete response')
    return problem
  }

  const answerProblem = (request: IncomingMessage, response: ServerResponse, problem: Problem): void => {
    if (response.headersSent || response.destroyed) return void response.destroy()
    const { status, headers, body } = problemAnswer(problem, request.headers.accept)
    for (const name of response.getHeaderNames()) response.removeHeader(name)
    response.writeHead(
      status,
      STATUS_CODES[status],
      request.complete ? headers : { ...headers, connection: 'close' },
    )
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  const http2 = createPortHttp2Server({
    precedence,
    explain,
    clean,
    onError: (error: unknown) => logger.warn({ err: error }, 'a request failed'),
    find: (host, path) => {
      if (readHost(domain, host) === undefined) return undefined
      return targetOf([host ?? ''], path).then((target) => {
        if ('title' in target) return target
        const { label, localHost, place, port } = target
        const key = `${label} ${place.generation}`
        const take = (): (() => void) => counts.take(place.dockId, port)
        const overHttp1 = { agent, host: hostOf(place, place.hostId), port }
        return { label, localHost, key, take, overHttp1, dial: () => connect(place, port) }
      })
    },
    track: (label, stream) => open.track(label, stream),
  })

  /** Closes the streams of a label that no longer exists. Also closes them if the lookup fails: clients reconnect. */
  const closeIfGone = async (label: string): Promise<void> => {
    const route = await routes.find(label).catch(() => null)
    if (!route) open.closeAll(label)
  }

  return {
    takes: (request) => readHost(domain, request.headers.host) !== undefined,
    handle: async (request, response) => {
      const target = await targetOf(request.headersDistinct.host ?? [], request.url)
      if ('title' in target) return answerProblem(request, response, target)
      // The client disconnected during the lookup.
      if (response.destroyed) return
      clean(request, target, null)
      const { label, options } = target
      open.track(label, response)
      const giveUp = (error: unknown): void => answerProblem(request, response, explain(error, label))
      failures.set(request, (error) => {
        if (isUnconnected(error) || response.headersSent || !isRepeatable(request)) return giveUp(error)
        // The program may just have closed the kept connection. Retry once on a new one.
        failures.set(request, giveUp)
        void proxy.web(request, response, { ...options, agent: oneShotAgent })
      })
      await proxy.web(request, response, options)
    },
    upgrade: async (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      const decline = (problem: Problem): void => {
        const { status, headers, body } = problemAnswer(problem, request.headers.accept)
        const lines = Object.entries({ ...headers, connection: 'close' }).map((each) => each.join(': '))
        refuseSocket(socket, [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
      }
      const target =
        request.method === 'GET'
          ? await targetOf(request.headersDistinct.host ?? [], request.url)
          : problems.badRequest
      if ('title' in target) return decline(target)
      if (socket.destroyed) return
      clean(request, target, 'websocket')
      open.track(target.label, socket)
      failures.set(request, (error) => decline(explain(error, target.label)))
      await proxy.ws(request, socket as Parameters<typeof proxy.ws>[1], target.options, head)
    },
    acceptHttp2: http2.accept,
    notice: (label) => {
      routes.notice(label)
      for (const each of open.labels) if (label === undefined || label === each) void closeIfGone(each)
    },
    close: () => {
      agent.destroy()
      oneShotAgent.destroy()
      http2.close()
    },
  }
}
