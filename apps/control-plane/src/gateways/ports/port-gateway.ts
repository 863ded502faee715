/**
 * The door for hosted ports: HTTP/1.1 and WebSockets for names below the ports' domain, passed on to the Dock that the
 * name stands for. The label is the whole permission: no credential is asked for, and none of the platform's goes in.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { isReadyDockState } from '@dock/contract'
import { type Logger, type Precedence, standBack } from '@dock/foundation'
import { createProxyServer, type ProxyServerOptions } from 'httpxy'
import type { ClientAddress } from '../../client-address.ts'
import { type HostConnections, HostRefused, HostUnreachable } from '../../modules/hosts/index.ts'
import { type PortRoutes, type PortsDomain, readHost } from '../../modules/ports/index.ts'
import { ConnectionCounts, TooManyConnections } from './connection-counts.ts'
import { DockAgent, hostOf } from './dock-agent.ts'
import { OpenStreams } from './open-streams.ts'
import { type Problem, problemAnswer, problems } from './problem-page.ts'
import { cleanRequestHeaders } from './request-headers.ts'
import { cleanResponseHeaders } from './response-headers.ts'

export type PortGateway = {
  /** Whether the request's `Host` lies in the ports' domain: then it is for nobody else, whatever it says. */
  takes(request: IncomingMessage): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** A notice of the channel `port_routes`. What is open by a label that nobody has any more is cut. */
  notice(label?: string): void
  /** Cuts every connection. */
  close(): void
}

type Target = { label: string; options: ProxyServerOptions }

/** A second try cannot do a thing twice: these have no body, and do nothing. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS'])
const mayRepeat = ({ method = '', headers }: IncomingMessage): boolean =>
  repeatable.has(method) &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined

/** Whether no connection was had at all, so that none had just been closed. */
const isUnconnected = (error: unknown): boolean =>
  error instanceof HostRefused || error instanceof HostUnreachable || error instanceof TooManyConnections

const problemOf = (error: unknown): Problem => {
  if (error instanceof TooManyConnections) return problems.crowded
  if (error instanceof HostUnreachable) return problems.unreachable
  if (!(error instanceof HostRefused)) return problems.badAnswer
  if (error.code === 'not_found') return problems.notListening
  if (error.code === 'not_running' || error.code === 'stale_generation') return problems.stopped
  return problems.unreachable
}

export function createPortGateway(parts: {
  domain: PortsDomain
  routes: PortRoutes
  hosts: Pick<HostConnections, 'connectPort'>
  /** What large bodies stand back for. */
  precedence: Precedence
  clientAddress: ClientAddress
  logger: Logger
}): PortGateway {
  const { domain, routes, precedence, logger } = parts
  const connect = (place: { hostId: string; dockId: string; generation: number }, port: number) =>
    parts.hosts.connectPort(place.hostId, place.dockId, port, place.generation)
  const counts = new ConnectionCounts()
  const agent = new DockAgent(connect, counts)
  const unkept = new DockAgent(connect, counts, false)
  const open = new OpenStreams()
  const proxy = createProxyServer()
  /** What is to be done when passing a request on fails before anything was answered. */
  const failures = new WeakMap<object, (error: unknown) => void>()
  const answered = (request: object): void => void failures.delete(request)
  proxy.on('error', (error, request) => {
    const fail = request && failures.get(request)
    if (request) answered(request)
    fail?.(error)
  })
  proxy.on('proxyRes', (answer, request, response) => {
    cleanResponseHeaders(answer.headers, false)
    // From here on it says what becomes of the client's connection, no longer of the Dock's.
    request.headers.connection = response.shouldKeepAlive ? 'keep-alive' : 'close'
    standBack(answer, response, precedence)
  })
  // Before the library's own listeners, which copy the headers.
  proxy.on('proxyReqWs', (outgoing, request, socket) => {
    socket.once('close', () => outgoing.destroy())
    outgoing.once('upgrade', (answer, stream) => {
      // A client that was cut never ended; the Dock's side would wait for more.
      socket.once('close', () => void (stream.writableEnded || stream.destroy()))
      answered(request)
      cleanResponseHeaders(answer.headers, true)
    })
    outgoing.once('response', (answer) => {
      answered(request)
      cleanResponseHeaders(answer.headers, false)
    })
  })

  /** Where the request goes; a problem when it goes nowhere. */
  const targetOf = async (request: IncomingMessage): Promise<Target | Problem> => {
    const hosts = request.headersDistinct.host ?? []
    const target = request.url ?? ''
    if (hosts.length !== 1 || !(target.startsWith('/') || target === '*')) return problems.badRequest
    const name = readHost(domain, hosts[0])
    if (!name) return problems.unknown
    const route = await routes.find(name.label).catch((error: unknown) => {
      logger.warn({ err: error }, 'a hosted port could not be looked up')
      return problems.notFoundNow
    })
    if (route && 'title' in route) return route
    if (route?.port !== name.port) return problems.unknown
    const { hostId, state, port, label } = route
    if (state === 'unreachable') return problems.unreachable
    if (!isReadyDockState(state) || hostId === null) return problems.stopped
    return { label, options: { target: { protocol: 'http:', host: hostOf(route, hostId), port }, agent } }
  }

  const clean = (request: IncomingMessage, upgrade: 'websocket' | null): void => {
    const forwardedFor = request.headers['x-forwarded-for']
    const peer = request.socket.remoteAddress
    const clientAddress = parts.clientAddress(peer, forwardedFor === undefined ? null : String(forwardedFor))
    cleanRequestHeaders(request.headers, { clientAddress, scheme: domain.scheme }, upgrade)
  }

  /** What is told of a failure. What is remembered of the label may be why, so it is forgotten. */
  const explain = (error: unknown, label: string): Problem => {
    routes.notice(label)
    const problem = problemOf(error)
    if (problem === problems.badAnswer) logger.debug({ err: error }, 'a hosted port answered badly')
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

  /** Not knowing whether somebody has the label, it cuts: whoever may, comes back. */
  const cutIfGone = async (label: string): Promise<void> => {
    const route = await routes.find(label).catch(() => null)
    if (!route) open.cut(label)
  }

  return {
    takes: (request) => readHost(domain, request.headers.host) !== undefined,
    handle: async (request, response) => {
      const target = await targetOf(request)
      if ('title' in target) return answerProblem(request, response, target)
      // The client left meanwhile.
      if (response.destroyed) return
      clean(request, null)
      const { label, options } = target
      open.hold(label, response)
      const giveUp = (error: unknown): void => answerProblem(request, response, explain(error, label))
      failures.set(request, (error) => {
        if (isUnconnected(error) || response.headersSent || !mayRepeat(request)) return giveUp(error)
        // A kept connection that its server closed at this moment: a new one tells whether that was all.
        failures.set(request, giveUp)
        void proxy.web(request, response, { ...options, agent: unkept })
      })
      await proxy.web(request, response, options)
    },
    upgrade: async (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      const refuse = (problem: Problem): void => {
        if (socket.destroyed || !socket.writable) return void socket.destroy()
        const { status, headers, body } = problemAnswer(problem, request.headers.accept)
        const lines = Object.entries({ ...headers, connection: 'close' }).map((each) => each.join(': '))
        socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
      }
      const target = request.method === 'GET' ? await targetOf(request) : problems.badRequest
      if ('title' in target) return refuse(target)
      if (socket.destroyed) return
      clean(request, 'websocket')
      open.hold(target.label, socket)
      failures.set(request, (error) => refuse(explain(error, target.label)))
      await proxy.ws(request, socket as Parameters<typeof proxy.ws>[1], target.options, head)
    },
    notice: (label) => {
      routes.notice(label)
      for (const each of open.labels) if (label === undefined || label === each) void cutIfGone(each)
    },
    close: () => {
      agent.destroy()
      unkept.destroy()
    },
  }
}
