import type { Duplex } from 'node:stream'
import { refuseSocket } from '@dock/foundation'

/** How long the refused client's remaining bytes are read and discarded. */
const lingerMs = 1_000

/** Sockets that were refused. The parser reports the error again for each further chunk. */
const refused = new WeakSet<Duplex>()

const statusOf = (code: string | undefined): string => {
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large'
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return '408 Request Timeout'
  return '400 Bad Request'
}

/**
 * Handles `clientError` of an HTTP server: a request that the parser refused. Node's default handler closes the socket
 * with unread bytes, so that the client may never see the status.
 */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (refused.has(socket)) return
  refused.add(socket)
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const status = statusOf(error.code)
  refuseSocket(socket, `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, { lingerMs })
}
