/**
 * HTTP/2 without TLS for hosted ports: gRPC, and clients or proxies that know that the server speaks it. A request goes
 * over HTTP/2 to a program that speaks it, trailers included, and over HTTP/1.1 to any other.
 */
import type { ClientRequestArgs } from 'node:http'
import { constants, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'
import { type Precedence, throttleLargeStream } from '@dock/foundation'
import {
  type Answer,
  type Asked,
  askOverHttp1,
  askOverHttp2,
  BrokenAnswer,
  sendTrailers,
} from './ask-program.ts'
import { DockSession } from './dock-session.ts'
import { restorePublicHost } from './local-host.ts'
import { type Problem, problemAnswer, problems } from './problem-page.ts'
import { cleanResponseHeaders, isFinalStatus } from './response-headers.ts'

/** Requests of one connection at the same time. Others wait in the client. */
const streamsMax = 100
/** MiB that one connection may use, besides the bodies of its requests, which flow control limits. */
const memoryMiB = 4
/** Time without a request and without traffic after which a connection is closed. */
const idleMs = 65_000
/** How long a program is taken to speak only HTTP/1, and how many programs are remembered. */
const olderMs = 30_000
const olderMax = 1_000

/** Where a request goes. `key` names the program, and changes when the Dock boots again. */
export type Destination = {
  label: string
  /** The host that the program sees, if it is not the public one. */
  localHost: string | undefined
  key: string
  /** Counts the request. Throws if there are too many. */
  take(): () => void
  dial(): Promise<Duplex>
  overHttp1: ClientRequestArgs
}

export type PortHttp2Server = {
  /** Serves a connection that begins with the preface of HTTP/2. */
  accept(socket: Socket): void
  close(): void
}

export function createPortHttp2Server(parts: {
  /** Returns undefined for a host outside the ports' domain. */
  find(host: string | undefined, path: string): Promise<Destination | Problem> | undefined
  /** Cleans the headers in place. */
  clean(
    request: { headers: IncomingHttpHeaders; socket: Socket },
    destination: Destination,
    upgrade: null,
  ): void
  /** Tracks a response until it ends, so that it ends with its label. */
  track(label: string, stream: ServerHttp2Stream): void
  explain(error: unknown, label: string): Problem
  precedence: Precedence
  onError(error: unknown): void
}): PortHttp2Server {
  const sessions = new Set<{ destroy(): void }>()
  /** Until when a program is taken to speak only HTTP/1, by key. */
  const older = new Map<string, number>()

  const sendProblem = (
    stream: ServerHttp2Stream,
    method: string,
    accept: string | undefined,
    problem: Problem,
  ): void => {
    if (stream.destroyed) return
    if (stream.headersSent) return void stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    const { status, headers, body } = problemAnswer(problem, accept)
    stream.respond({ ':status': status, ...headers }, { endStream: method === 'HEAD' })
    if (method !== 'HEAD') stream.end(body)
  }

  const send = ({ stream, method, headers: sent, acceptsTrailers }: Asked, answer: Answer): void => {
    const { status, headers, body } = answer
    cleanResponseHeaders(headers, false)
    restorePublicHost(headers, sent)
    if (status === 204) delete headers['content-length']
    const hasNoBody = answer.isEnd || method === 'HEAD' || status === 204 || status === 304
    stream.respond({ ...headers, ':status': status }, { endStream: hasNoBody, waitForTrailers: !hasNoBody })
    const breakOff = (): void => stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    body.on('error', breakOff)
    if (hasNoBody) return void body.resume()
    stream.once('wantTrailers', () => sendTrailers(stream, acceptsTrailers ? answer.trailers() : {}))
    body.once('end', () => (answer.isWhole() ? stream.end() : breakOff()))
    body.once('close', () => {
      if (!body.readableEnded) breakOff()
    })
    throttleLargeStream(body, stream, parts.precedence)
    body.pipe(stream, { end: false })
  }

  const ask = async (
    asked: Asked,
    destination: Destination,
    sessionOf: (destination: Destination) => Promise<DockSession | null>,
  ): Promise<Answer> => {
    const isGrpc = String(asked.headers['content-type'] ?? '').startsWith('application/grpc')
    const { key, take } = destination
    if (isGrpc || (older.get(key) ?? 0) < performance.now()) {
      const release = take()
      asked.stream.once('close', release)
      const session = await sessionOf(destination)
      if (session) return askOverHttp2(session, asked)
      if (isGrpc) throw new BrokenAnswer('the program does not speak HTTP/2')
      asked.stream.off('close', release)
      release()
      older.delete(key)
      older.set(key, performance.now() + olderMs)
      if (older.size > olderMax) older.delete(older.keys().next().value ?? key)
    }
    return askOverHttp1(destination.overHttp1, asked)
  }

  const serve = async (
    stream: ServerHttp2Stream,
    received: IncomingHttpHeaders,
    sessionOf: (destination: Destination) => Promise<DockSession | null>,
  ): Promise<void> => {
    const {
      ':method': method = '',
      ':path': path = '',
      ':authority': authority,
      ':scheme': _,
      ...headers
    } = received
    const host = authority ?? headers.host
    // They may arrive before the program is connected.
    let trailers: IncomingHttpHeaders = {}
    stream.once('trailers', (sent) => {
      trailers = sent
    })
    const found = parts.find(host, path)
    // The service itself speaks HTTP/1.
    if (!found) return stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED)
    const { accept } = headers
    const fail = (problem: Problem): void => sendProblem(stream, method, accept, problem)
    if (method === 'CONNECT' || (headers.host !== undefined && headers.host !== host))
      return fail(problems.badRequest)
    const destination = await found
    if ('title' in destination) return fail(destination)
    const socket = stream.session?.socket as Socket | undefined
    if (stream.destroyed || !socket) return
    const acceptsTrailers = /(^|,)\s*trailers\s*($|[,;])/i.test(String(headers.te ?? ''))
    headers.host = host
    parts.clean({ headers, socket }, destination, null)
    parts.track(destination.label, stream)
    const asked = { stream, method, path, headers, acceptsTrailers, trailers: () => trailers }
    try {
      const answer = await ask(asked, destination, sessionOf)
      if (stream.destroyed) return void answer.body.destroy()
      if (!isFinalStatus(answer.status)) {
        answer.body.destroy()
        throw new BrokenAnswer('the status is not that of a response')
      }
      send(asked, answer)
    } catch (error) {
      fail(parts.explain(error, destination.label))
    }
  }

  const server = createServer({
    maxSessionMemory: memoryMiB,
    settings: { maxConcurrentStreams: streamsMax, maxHeaderListSize: limits.http.headerBytesMax + 8 * 1024 },
  })
  server.on('sessionError', () => undefined)
  server.on('session', (session) => {
    const toDocks = new Map<string, Promise<DockSession | null>>()
    const opened = new Set<DockSession>()
    const open = async (destination: Destination): Promise<DockSession | null> => {
      const made = await DockSession.greet(await destination.dial())
      if (!made) return null
      opened.add(made)
      made.onClose(() => opened.delete(made))
      if (session.destroyed) made.destroy()
      return made
    }
    const sessionOf = async (destination: Destination): Promise<DockSession | null> => {
      const { key } = destination
      const pending = toDocks.get(key)
      if (!pending) {
        const opening = open(destination)
        toDocks.set(key, opening)
        const forget = (): void => void toDocks.delete(key)
        opening.then((made) => made ?? forget(), forget)
        return opening
      }
      const known = await pending
      if (known === null || known.isUsable) return known
      if (toDocks.get(key) === pending) toDocks.delete(key)
      return sessionOf(destination)
    }
    let requests = 0
    sessions.add(session)
    session.on('error', () => undefined)
    session.setTimeout(idleMs, () => {
      if (requests === 0) session.close()
    })
    session.once('close', () => {
      sessions.delete(session)
      for (const each of opened) each.destroy()
    })
    session.on('stream', (stream, headers) => {
      requests += 1
      stream.on('error', () => undefined)
      stream.once('close', () => {
        requests -= 1
      })
      // The response is complete. A stream with unread bytes never closes.
      stream.once('finish', () => stream.resume())
      serve(stream, headers, sessionOf).catch((error: unknown) => {
        parts.onError(error)
        stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      })
    })
  })
  return {
    accept: (socket) => void server.emit('connection', socket),
    close: () => {
      for (const session of sessions) session.destroy()
    },
  }
}
