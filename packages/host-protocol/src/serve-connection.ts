/** The agent's end of a connection to a Dock. A handler inspects the request, then accepts or refuses it. */
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Duplex } from 'node:stream'
import { bindDialled, ticketHeader } from './dial-back.ts'
import { readMessage } from './length-prefixed.ts'

export type IncomingConnection = {
  /** The requested path and query. */
  readonly target: URL
  /** Aborted when the caller disconnects, before or after the connection was accepted. */
  readonly gone: AbortSignal
  /**
   * Reads the message that the caller sent first, with its length before it. Throws if it is longer than `bytesMax`, or
   * if the caller disconnects.
   */
  readMessage(bytesMax: number): Promise<Buffer>
  /** Accepts the connection. */
  accept(): Duplex
  /** Begins to dial back while the handler still prepares, so that {@link acceptByDialBack} waits less. */
  beginDialBack(): void
  /**
   * Accepts by dialling back if the control plane sent a ticket. Otherwise, or if dialling fails, acts like `accept`.
   */
  acceptByDialBack(): Promise<Duplex>
  /** Refuses the connection with `{code, message}`. */
  refuse(status: number, refusal: { code: string; message: string }): void
}

/** Must accept or refuse the connection. If it throws, the caller gets an internal error. */
export type ConnectHandler = (connection: IncomingConnection) => Promise<void>

/** Dials the control plane for one connection. Resolves to null if that fails. */
export type DialBack = (ticket: string) => Promise<Duplex | null>

/** Passes a CONNECT request of the control plane to `handler`. Rejects with the handler's error. */
export async function serveConnection(
  stream: ServerHttp2Stream,
  head: IncomingHttpHeaders,
  handler: ConnectHandler,
  dialBack?: DialBack,
): Promise<void> {
  const gone = new AbortController()
  stream.on('error', () => undefined)
  let dialled: Promise<Duplex | null> | undefined
  const dial = (): Promise<Duplex | null> => {
    const ticket = head[ticketHeader]
    dialled ??= typeof ticket === 'string' && dialBack ? dialBack(ticket) : Promise.resolve(null)
    return dialled
  }
  stream.once('close', () => {
    gone.abort(new Error('the caller disconnected'))
    // Also closes a connection that was dialled in vain.
    void dialled?.then((apart) => apart?.destroy())
  })
  const accept = (): Duplex => {
    if (!stream.destroyed) stream.respond({ ':status': 200 })
    return stream
  }
  try {
    await handler({
      target: new URL(head[':path'] ?? '/', 'http://agent'),
      gone: gone.signal,
      readMessage: (bytesMax) => readMessage(stream, bytesMax),
      accept,
      beginDialBack: () => void dial(),
      acceptByDialBack: async () => {
        const apart = await dial()
        if (!apart) return accept()
        bindDialled(apart, accept())
        return apart
      },
      refuse: (status, refusal) => {
        if (stream.destroyed) return
        stream.respond({ ':status': status, 'content-type': 'application/json' })
        stream.end(JSON.stringify(refusal))
        // Drain the caller's side, otherwise the stream stays open.
        stream.resume()
      },
    })
  } catch (error) {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    throw error
  }
}
