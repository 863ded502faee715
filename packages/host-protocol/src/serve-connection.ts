/** The agent's end of a connection to a Dock: looked at first, then taken, with bytes both ways, or refused. */
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'

export type IncomingConnection = {
  /** Path and query that were asked for. */
  readonly target: URL
  /** Aborted when the caller went away before or after it was taken. */
  readonly gone: AbortSignal
  /** Takes it. `trailers` are asked for at the orderly end of what the agent sends. */
  accept(trailers?: () => OutgoingHttpHeaders): Duplex
  /** Answers `{code, message}` instead. */
  refuse(status: number, refusal: { code: string; message: string }): void
}

/** Must accept or refuse; what it throws instead is an internal error to the caller. */
export type ConnectHandler = (connection: IncomingConnection) => Promise<void>

/** Hands one CONNECT of the control plane to `handler`. Rejects with what the handler threw. */
export const serveConnection = async (
  stream: ServerHttp2Stream,
  head: IncomingHttpHeaders,
  handler: ConnectHandler,
): Promise<void> => {
  const gone = new AbortController()
  stream.on('error', () => undefined)
  stream.once('close', () => gone.abort(new Error('the caller went away')))
  try {
    await handler({
      target: new URL(head[':path'] ?? '/', 'http://agent'),
      gone: gone.signal,
      accept: (trailers) => {
        if (!stream.destroyed) {
          stream.respond({ ':status': 200 }, { waitForTrailers: trailers !== undefined })
          if (trailers) stream.once('wantTrailers', () => stream.sendTrailers(trailers()))
        }
        return stream
      },
      refuse: (status, refusal) => {
        if (stream.destroyed) return
        stream.respond({ ':status': status, 'content-type': 'application/json' })
        stream.end(JSON.stringify(refusal))
        // The caller's side stays open otherwise, and the stream with it.
        stream.resume()
      },
    })
  } catch (error) {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    throw error
  }
}
