/**
 * The control plane's end of a link. The host dialled, but over its WebSocket the control plane is the HTTP/2
 * client. Every call ends: with an answer, or with {@link LinkLost} as soon as the socket is gone.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { createWebSocketStream, type WebSocket } from 'ws'
import { type ConnectOptions, connectOverLink } from './connect-over-link.ts'
import { LinkLost, LinkTimeout } from './link-errors.ts'
import { type LivenessTimes, watchLiveness } from './link-liveness.ts'
import { connectionWindowBytes, sessionOptions } from './link-settings.ts'
import type { LinkSocket } from './link-socket.ts'

/** A whole answer, read to its end. `json` throws SyntaxError when the body is no JSON. */
export type AgentAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer; json(): unknown }
/** An answer whose body comes as it is made. Destroying `stream` cancels the call at the agent. */
export type AgentStream = { status: number; headers: IncomingHttpHeaders; stream: Readable }

/** `body` is sent as JSON, or as it comes when it is a stream. `timeoutMs` counts to the end of a whole answer. */
export type RequestOptions = {
  body?: unknown
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}
export type StreamOptions = { body?: unknown; signal?: AbortSignal | undefined }

export type AgentLink = {
  /** Calls the agent and reads the whole answer (at most 16 MiB), whatever its status. */
  request(method: string, path: string, options?: RequestOptions): Promise<AgentAnswer>
  /** Calls the agent and answers with the head; the body follows as a stream with backpressure. */
  stream(method: string, path: string, options?: StreamOptions): Promise<AgentStream>
  /** Connects to a Dock, bytes both ways. Rejects with AgentRefusal when the agent does not take the connection. */
  connect(path: string, options?: ConnectOptions): Promise<LinkSocket>
  /** Breaks the connection; calls under way reject with LinkLost. `code` is the WebSocket's close code. */
  close(code?: number, reason?: string): void
  readonly isClosed: boolean
  /** Resolves when the connection is gone, for whatever reason. */
  readonly closed: Promise<void>
  /** Calls back once when the connection is gone; at once when it already is. */
  onClose(callback: () => void): void
}

/** Both streams of a command at their limit, each character escaped. */
const answerBytesMax = 16 * 1024 * 1024

const isReadable = (body: unknown): body is Readable =>
  typeof body === 'object' && body !== null && 'pipe' in body && typeof body.pipe === 'function'

const send = (stream: ClientHttp2Stream, body: unknown): void => {
  if (body === undefined) return
  if (isReadable(body)) pipeline(body, stream, () => undefined)
  else stream.end(JSON.stringify(body))
}

const open = (
  session: ClientHttp2Session,
  method: string,
  path: string,
  { body, signal }: StreamOptions,
): ClientHttp2Stream => {
  if (session.destroyed || session.closed) throw new LinkLost()
  signal?.throwIfAborted()
  const headers: Record<string, string> = { ':method': method, ':path': path }
  if (body !== undefined) {
    headers['content-type'] = isReadable(body) ? 'application/octet-stream' : 'application/json'
  }
  const stream = session.request(headers, { endStream: body === undefined, ...(signal ? { signal } : {}) })
  // A reset that carries "cancel" is no error to Node, and a reader would take the cut for the end.
  stream.on('aborted', () => stream.destroy(signal?.aborted ? undefined : new LinkLost()))
  stream.on('error', () => undefined)
  send(stream, body)
  return stream
}

/** The head of the answer. Rejects with LinkLost, or the signal's reason. */
const headOf = (stream: ClientHttp2Stream, signal?: AbortSignal): Promise<AgentStream> =>
  new Promise((resolve, reject) => {
    let failure: unknown
    stream.once('response', (headers) => {
      // A short answer ends in this very tick: a reader that comes later would find the stream closed.
      const body = new PassThrough({ highWaterMark: 128 * 1024 })
      body.on('error', () => undefined)
      pipeline(stream, body, () => undefined)
      resolve({ status: headers[':status'] ?? 0, headers, stream: body })
    })
    stream.once('error', (error) => {
      failure = error
    })
    stream.once('close', () => {
      if (signal?.aborted) reject(signal.reason)
      else reject(failure instanceof LinkLost ? failure : new LinkLost(undefined, { cause: failure }))
    })
  })

/**
 * The whole answer, collected as it comes: most calls are small, and a stream of their own would cost more than they do.
 * Rejects with LinkLost, LinkTimeout or the signal's reason.
 */
const wholeAnswer = (
  stream: ClientHttp2Stream,
  { signal, timeoutMs }: RequestOptions,
): Promise<AgentAnswer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let headers: (IncomingHttpHeaders & IncomingHttpStatusHeader) | undefined
    let failure: unknown
    const cancel = (reason: Error): void => {
      failure = reason
      stream.close(constants.NGHTTP2_CANCEL)
    }
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => cancel(new LinkTimeout(timeoutMs)), timeoutMs)
    stream.once('response', (head) => {
      headers = head
    })
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > answerBytesMax) cancel(new LinkLost(`the host's answer exceeds ${answerBytesMax} bytes`))
      else chunks.push(chunk)
    })
    stream.once('end', () => {
      if (failure || !headers) return
      clearTimeout(timer)
      const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      const json = (): unknown => JSON.parse(body.toString('utf8'))
      resolve({ status: headers[':status'] ?? 0, headers, body, json })
    })
    stream.once('error', (error) => {
      failure ??= error
    })
    stream.once('close', () => {
      clearTimeout(timer)
      if (signal?.aborted) reject(signal.reason)
      else reject(failure instanceof LinkLost ? failure : new LinkLost(undefined, { cause: failure }))
    })
  })

/**
 * Takes over a WebSocket that a host opened. Call it in the same tick as the upgrade: a message that arrives before
 * would be lost.
 */
export function acceptLink(socket: WebSocket, times?: LivenessTimes): AgentLink {
  const duplex = createWebSocketStream(socket)
  duplex.on('error', () => undefined)
  const session = connect('http://agent', { ...sessionOptions, createConnection: () => duplex })
  session.on('error', () => undefined)
  session.once('connect', () => {
    if (!session.destroyed) session.setLocalWindowSize(connectionWindowBytes)
  })
  watchLiveness(socket, times)

  let isClosed = false
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>()
  const end = (): void => {
    if (isClosed) return
    isClosed = true
    session.destroy(new LinkLost())
    socket.terminate()
    resolveClosed()
  }
  socket.once('close', end)
  socket.once('error', end)
  session.once('close', end)
  session.once('goaway', end)

  return {
    request: async (method, path, options = {}) => wholeAnswer(open(session, method, path, options), options),
    stream: async (method, path, options = {}) =>
      headOf(open(session, method, path, options), options.signal),
    connect: (path, options) => connectOverLink(session, path, options),
    close: (code = 1000, reason = '') => {
      socket.close(code, reason)
      // The peer is given no say: what waits for an answer is told now.
      setImmediate(end)
    },
    get isClosed() {
      return isClosed
    },
    closed,
    onClose: (callback) => {
      void closed.then(callback)
    },
  }
}
