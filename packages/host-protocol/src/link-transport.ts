/**
 * The byte stream of a WebSocket for HTTP/2. Node's HTTP/2 reads nothing while one of its writes is under way. If both
 * ends write more than the socket between them holds, neither would ever read. So a write completes at once. HTTP/2's
 * own flow control bounds the bytes that wait: at most the window of the connection.
 */
import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket } from 'ws'

/** Call it when the socket is open. Errors destroy the stream. */
export function createLinkTransport(socket: WebSocket): Duplex {
  const duplex = createWebSocketStream(socket)
  duplex.on('error', () => undefined)
  duplex._write = (chunk: Buffer, _encoding, done) => {
    socket.send(chunk, (error) => {
      if (error) duplex.destroy(error)
    })
    done()
  }
  return duplex
}
