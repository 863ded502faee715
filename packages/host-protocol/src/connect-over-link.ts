/** Opens a connection to a Dock over a link, with an extended CONNECT (RFC 8441) for bidirectional bytes. */
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { ticketHeader } from './dial-back.ts'
import { HostUnreachable } from './link-errors.ts'
import { connectProtocol } from './link-settings.ts'
import { LinkSocket } from './link-socket.ts'
import { refusalOf } from './refusal-of.ts'

const refusalBytesMax = 64 * 1024

const readRefusal = async (socket: LinkSocket): Promise<string> => {
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) {
    text += chunk
    if (text.length > refusalBytesMax) break
  }
  return text
}

/**
 * With a `ticket`, the agent may dial back and carry the bytes outside the link. `first` is sent at once, so that the
 * agent can read it before it accepts.
 */
export type ConnectOptions = { signal?: AbortSignal | undefined; ticket?: string; first?: Buffer }

/**
 * Returns once the agent has accepted the connection. Throws HostRefused if the agent refused it, HostUnreachable if the link
 * broke, or the signal's reason.
 */
export async function connectOverLink(
  session: ClientHttp2Session,
  path: string,
  { signal, ticket, first }: ConnectOptions = {},
): Promise<LinkSocket> {
  if (session.destroyed || session.closed) throw new HostUnreachable()
  signal?.throwIfAborted()
  const stream = session.request(
    {
      ...{ ':method': 'CONNECT', ':protocol': connectProtocol, ':path': path },
      ...(ticket === undefined ? {} : { [ticketHeader]: ticket }),
    },
    { endStream: false },
  )
  const socket = new LinkSocket(stream)
  if (first) socket.write(first)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  stream.once('response', (headers: IncomingHttpHeaders) => resolve(Number(headers[':status'])))
  socket.once('error', (error) =>
    reject(error instanceof HostUnreachable ? error : new HostUnreachable(undefined, { cause: error })),
  )
  socket.once('close', () => reject(new HostUnreachable()))
  const abort = (): void => {
    socket.destroy()
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const status = await promise
    if (status === 200) return socket
    const text = await readRefusal(socket)
    socket.destroy()
    throw refusalOf(status, text)
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
