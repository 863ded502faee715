/** Opens a connection to a Dock over a link: an extended CONNECT (RFC 8441), so that bytes go both ways at once. */
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { ticketHeader } from './dial-back.ts'
import { LinkLost } from './link-errors.ts'
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

/** `ticket`: the agent may dial back with it. */
export type ConnectOptions = { signal?: AbortSignal | undefined; ticket?: string }

/**
 * Answers once the agent has taken the connection. Throws AgentRefusal when it did not, LinkLost when the link broke,
 * and the signal's reason.
 */
export async function connectOverLink(
  session: ClientHttp2Session,
  path: string,
  { signal, ticket }: ConnectOptions = {},
): Promise<LinkSocket> {
  if (session.destroyed || session.closed) throw new LinkLost()
  signal?.throwIfAborted()
  const stream = session.request(
    {
      ...{ ':method': 'CONNECT', ':protocol': connectProtocol, ':path': path },
      ...(ticket === undefined ? {} : { [ticketHeader]: ticket }),
    },
    { endStream: false },
  )
  const socket = new LinkSocket(stream)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  stream.once('response', (headers: IncomingHttpHeaders) => resolve(Number(headers[':status'])))
  socket.once('error', (error) =>
    reject(error instanceof LinkLost ? error : new LinkLost(undefined, { cause: error })),
  )
  socket.once('close', () => reject(new LinkLost()))
  const leave = (): void => {
    socket.destroy()
    reject(signal?.reason)
  }
  signal?.addEventListener('abort', leave, { once: true })
  try {
    const status = await promise
    if (status === 200) return socket
    const text = await readRefusal(socket)
    socket.destroy()
    throw refusalOf(status, text)
  } finally {
    signal?.removeEventListener('abort', leave)
  }
}
