/** Recognizes HTTP/2 without TLS on a connection of the HTTP/1 server, at no cost for the connections that speak HTTP/1. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** What every client of HTTP/2 sends first. The parser of HTTP/1 reads exactly this, and stops behind it. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

type ParseError = Error & { code?: string; bytesParsed?: number; rawPacket?: Buffer }

/**
 * Handles `clientError` of an HTTP server. Returns the connection, ready for a server of HTTP/2, if it began with the
 * preface of HTTP/2. Returns null for any other error, which then leaves the connection as it was.
 */
export function takeHttp2(error: ParseError, connection: Duplex): Socket | null {
  if (error.code !== 'HPE_PAUSED_H2_UPGRADE') return null
  const socket = connection as Socket
  const rest = (error.rawPacket ?? Buffer.alloc(0)).subarray(error.bytesParsed ?? 0)
  // Behind a request of HTTP/1, the preface is an error.
  if (socket.destroyed || socket.bytesRead - rest.length !== preface.length) return null
  // A listener makes Node take the reading back from the parser.
  socket.on('data', () => undefined)
  // Otherwise the server closes the connection once the time for headers is over. Node frees the parser at the end.
  const { parser } = socket as Socket & { parser?: { remove(): void } }
  parser?.remove()
  for (const event of ['data', 'drain', 'timeout']) socket.removeAllListeners(event)
  const [ofSocket, ...ofServer] = socket.listeners('end') as (() => void)[]
  for (const listener of ofSocket ? ofServer : []) socket.removeListener('end', listener)
  socket.setTimeout(0)
  socket.pause()
  socket.unshift(Buffer.concat([preface, rest]))
  return socket
}
