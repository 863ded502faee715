/** The agent's end of a link: an HTTP/2 server on a stream that calls a Fetch-standard handler. */

import type { IncomingHttpHeaders } from 'node:http2'
import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { connectionWindowBytes, connectProtocol, sessionOptions } from './link-settings.ts'
import { type ConnectHandler, type DialBack, serveConnection } from './serve-connection.ts'

/** A Fetch-standard handler, for example `app.fetch` of a Hono application. */
export type LinkHandler = (request: Request) => Response | Promise<Response>

const requestBufferBytes = 256 * 1024

/**
 * The request's body with backpressure. Cancelling it discards the rest, because closing would also end the response.
 */
const bodyOf = (stream: ServerHttp2Stream): ReadableStream<Uint8Array> => {
  let isOver = false
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const over = (settle: () => void): void => {
          if (isOver) return
          isOver = true
          settle()
        }
        stream.on('data', (chunk: Buffer) => {
          if (isOver) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) stream.pause()
        })
        stream.pause()
        stream.once('end', () => over(() => controller.close()))
        stream.once('close', () => over(() => controller.error(new Error('the caller disconnected'))))
      },
      pull: () => {
        stream.resume()
      },
      cancel: () => {
        isOver = true
        stream.resume()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: requestBufferBytes }),
  )
}

const requestOf = (stream: ServerHttp2Stream, head: IncomingHttpHeaders, signal: AbortSignal): Request => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(head)) {
    if (name.startsWith(':') || value === undefined) continue
    headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const method = head[':method'] ?? 'GET'
  const hasBody = method !== 'GET' && method !== 'HEAD' && !stream.endAfterHeaders
  if (!hasBody) stream.resume()
  return new Request(new URL(head[':path'] ?? '/', 'http://agent'), {
    method,
    headers,
    signal,
    ...(hasBody ? { body: bodyOf(stream), duplex: 'half' as const } : {}),
  })
}

/** The body of a response failed after its begin. The caller sees a stream that is reset. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody'
}

const waitForDrain = (stream: ServerHttp2Stream): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })

const respond = async (stream: ServerHttp2Stream, response: Response): Promise<void> => {
  if (stream.destroyed) {
    await response.body?.cancel()
    return
  }
  const headers = { ...Object.fromEntries(response.headers), ':status': response.status }
  if (!response.body) {
    stream.respond(headers, { endStream: true })
    return
  }
  if (response.headers.get('content-type')?.startsWith('application/json')) {
    // Most responses are small JSON: send headers and body together.
    const whole = Buffer.from(await response.arrayBuffer())
    if (stream.destroyed) return
    stream.respond(headers)
    stream.end(whole)
    return
  }
  stream.respond(headers)
  const reader = response.body.getReader()
  // A body that waits for its next chunk would not notice that the caller disconnected.
  stream.once('close', () => void reader.cancel().catch(() => undefined))
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new BrokenBody('the body of a response broke off', { cause })
    })
    if (stream.destroyed) return
    if (done) break
    if (!stream.write(value)) await waitForDrain(stream)
  }
  stream.end()
}

const serveStream = async (
  stream: ServerHttp2Stream,
  head: IncomingHttpHeaders,
  handler: LinkHandler,
): Promise<void> => {
  stream.on('error', () => undefined)
  const gone = new AbortController()
  // A Request forwards its signal only while it is reachable. The `close` listener below keeps it reachable for
  // handlers that keep only the signal.
  let request: Request | null = null
  let isAnswered = false
  stream.once('close', () => {
    if (!isAnswered) gone.abort(new Error('the caller disconnected'))
    request = null
  })
  try {
    request = requestOf(stream, head, gone.signal)
    await respond(stream, await handler(request))
    isAnswered = true
    // Drain what the handler did not read, otherwise the stream stays open.
    stream.resume()
  } catch (error) {
    isAnswered = true
    // Reset the stream, so that the caller does not mistake a partial response for a complete one.
    if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    throw error
  }
}

/** The services of an agent on a link: calls, and connections to its Docks. */
export type LinkService = {
  handler: LinkHandler
  connect?: ConnectHandler | undefined
  dialBack?: DialBack | undefined
}

/** Serves a connected stream until it ends. `onFailure` is called with each error that a handler throws. */
export function serveLink(
  duplex: Duplex,
  { handler, connect, dialBack }: LinkService,
  onFailure: (error: unknown) => void,
): ServerHttp2Session {
  const { settings } = sessionOptions
  const session = performServerHandshake(duplex, {
    ...sessionOptions,
    settings: { ...settings, enableConnectProtocol: connect !== undefined },
  })
  session.setLocalWindowSize(connectionWindowBytes)
  session.on('error', () => undefined)
  session.on('stream', (stream, head) => {
    const isConnection = connect && head[':method'] === 'CONNECT' && head[':protocol'] === connectProtocol
    const served = isConnection
      ? serveConnection(stream, head, connect, dialBack)
      : serveStream(stream, head, handler)
    served.catch(onFailure)
  })
  return session
}
