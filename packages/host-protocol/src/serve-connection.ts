/** The agent's end of a connection to a Dock: looked at first, then taken, with bytes both ways, or refused. */
import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { bindDialled, ticketHeader } from './dial-back.ts'

export type IncomingConnection = {
  /** Path and query that were asked for. */
  readonly target: URL
  /** Aborted when the caller went away before or after it was taken. */
  readonly gone: AbortSignal
  /** Takes it. `trailers` are asked for at the orderly end of what the agent sends. */
  accept(trailers?: () => OutgoingHttpHeaders): Duplex
  /** Takes it by a connection of its own when the control plane asks for that and it can be had, else as `accept`. */
  acceptApart(): Promise<Duplex>
  /** Answers `{code, message}` instead. */
  refuse(status: number, refusal: { code: string; message: string }): void
}

/** Must accept or refuse; what it throws instead is an internal error to the caller. */
export type ConnectHandler = (connection: IncomingConnection) => Promise<void>

/** Dials the control plane for one connection; null when that fails. */
export type DialBack = (ticket: string) => Promise<Duplex | null>

/** Hands one CONNECT of the control plane to `handler`. Rejects with what the handler threw. */
export async function serveConnection(
  stream: ServerHttp2Stream,
  head: IncomingHttpHeaders,
  handler: ConnectHandler,
  dialBack?: DialBack,
): Promise<void> {
  const gone = new AbortController()
  stream.on('error', () => undefined)
  stream.once('close', () => gone.abort(new Error('the caller went away')))
  const accept = (trailers?: () => OutgoingHttpHeaders): Duplex => {
    if (!stream.destroyed) {
      stream.respond({ ':status': 200 }, { waitForTrailers: trailers !== undefined })
      if (trailers) stream.once('wantTrailers', () => stream.sendTrailers(trailers()))
    }
    return stream
  }
  try {
    await handler({
      target: new URL(head[':path'] ?? '/', 'http://agent'),
      gone: gone.signal,
      accept,
      acceptApart: async () => {
        const ticket = head[ticketHeader]
        const apart = typeof ticket === 'string' ? await dialBack?.(ticket) : null
        if (!apart) return accept()
        bindDialled(apart, accept(), gone.signal)
        return apart
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
