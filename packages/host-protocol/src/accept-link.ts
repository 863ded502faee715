/**
 * The control plane's end of a link. The host opens the WebSocket, but on it the control plane is the HTTP/2 client.
 * Every call settles: with a response, or with {@link HostUnreachable} as soon as the socket is closed.
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
import type { WebSocket } from 'ws'
import { type ConnectOptions, connectOverLink } from './connect-over-link.ts'
import { HostUnreachable, LinkTimeout } from './link-errors.ts'
import { type LivenessTimes, watchLiveness } from './link-liveness.ts'
import { connectionWindowBytes, sessionOptions } from './link-settings.ts'
import type { LinkSocket } from './link-socket.ts'
import { createLinkTransport } from './link-transport.ts'

/** A complete response. `json` throws SyntaxError if the body is not JSON. */
export type AgentAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer; json(): unknown }
/** A response with a streamed body. Destroying `stream` cancels the call at the agent. */
export type AgentStream = { status: number; headers: IncomingHttpHeaders; stream: Readable }

/**
 * `body` is sent as JSON, or as raw bytes if it is a stream. `timeoutMs` covers the call up to the end of the response.
 */
export type RequestOptions = {
  body?: unknown
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}
export type StreamOptions = { body?: unknown; signal?: AbortSignal | undefined }

export type AgentLink = {
  /** Calls the agent and returns the complete response (at most 16 MiB) for any status. */
  request(method: string, path: string, options?: RequestOptions): Promise<AgentAnswer>
  /** Calls the agent and returns when the headers have arrived. The body is a stream with backpressure. */
  stream(method: string, path: string, options?: StreamOptions): Promise<AgentStream>
  /** Opens a bidirectional byte stream to a Dock. Rejects with HostRefused if the agent refuses the connection. */
  connect(path: string, options?: ConnectOptions): Promise<LinkSocket>
  /** Closes the link. Pending calls reject with HostUnreachable. `code` is the WebSocket close code. */
  close(code?: number, reason?: string): void
  readonly isClosed: boolean
  /** Resolves when the link is closed for any reason. */
  readonly closed: Promise<void>
  /** Calls `callback` once when the link is closed, or immediately if it already is. */
  onClose(callback: () => void): void
}

/** Fits a command's stdout and stderr at their limits with every character escaped in JSON. */
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
  if (session.destroyed || session.closed) throw new HostUnreachable()
  signal?.throwIfAborted()
  const headers: Record<string, string> = { ':method': method, ':path': path }
  if (body !== undefined) {
    headers['content-type'] = isReadable(body) ? 'application/octet-stream' : 'application/json'
  }
  const stream = session.request(headers, { endStream: body === undefined, ...(signal ? { signal } : {}) })
  // Node does not treat a reset with CANCEL as an error, so a reader would mistake the cut for the end of the body.
  stream.on('aborted', () => stream.destroy(signal?.aborted ? undefined : new HostUnreachable()))
  stream.on('error', () => undefined)
  send(stream, body)
  return stream
}

/** Waits for the response headers. Rejects with HostUnreachable, or with the signal's reason. */
const waitForHead = (stream: ClientHttp2Stream, signal?: AbortSignal): Promise<AgentStream> =>
  new Promise((resolve, reject) => {
    let failure: unknown
    stream.once('response', (headers) => {
      // A short response ends in this tick. Without the PassThrough, a later reader would find the stream closed.
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
      else
        reject(
          failure instanceof HostUnreachable ? failure : new HostUnreachable(undefined, { cause: failure }),
        )
    })
  })

/**
 * Collects the complete response. Most calls are small, so this avoids the cost of a stream per call. Rejects with
 * HostUnreachable, LinkTimeout or the signal's reason.
 */
const readAnswer = (stream: ClientHttp2Stream, { signal, timeoutMs }: RequestOptions): Promise<AgentAnswer> =>
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
      if (size > answerBytesMax)
        cancel(new HostUnreachable(`the host's response exceeds ${answerBytesMax} bytes`))
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
      else
        reject(
          failure instanceof HostUnreachable ? failure : new HostUnreachable(undefined, { cause: failure }),
        )
    })
  })

/**
 * Turns a WebSocket that a host opened into a link. Call it in the same tick as the upgrade, otherwise early messages
 * are lost.
 */
export function acceptLink(socket: WebSocket, times?: LivenessTimes): AgentLink {
  const duplex = createLinkTransport(socket)
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
    session.destroy(new HostUnreachable())
    socket.terminate()
    resolveClosed()
  }
  socket.once('close', end)
  socket.once('error', end)
  session.once('close', end)
  session.once('goaway', end)

  return {
    request: async (method, path, options = {}) => readAnswer(open(session, method, path, options), options),
    stream: async (method, path, options = {}) =>
      waitForHead(open(session, method, path, options), options.signal),
    connect: (path, options) => connectOverLink(session, path, options),
    close: (code = 1000, reason = '') => {
      socket.close(code, reason)
      // Reject pending calls now instead of waiting for the peer's close frame.
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
