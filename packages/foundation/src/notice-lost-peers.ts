/** Finds connections whose other end is gone while nobody reads them. */
import type { Socket } from 'node:net'

/** The kernel asks a silent peer after this time whether it is still there. */
const askPeerMs = 60_000

/**
 * Returns a function that watches a connection until it closes. Node does not wait for events of a socket that is neither read
 * nor written, so a reset is not noticed while an upload is held back. Every `everyMs` an empty write asks the kernel, which
 * sends nothing but reports the reset. Sockets with an idle timeout are left alone: the write would prolong it. Where this end
 * has finished sending, nothing can be asked: the connection is closed if bytes wait in it and none arrived in that time.
 */
export function noticeLostPeers(everyMs: number): (socket: Socket) => void {
  const bytesRead = new Map<Socket, number>()
  let timer: NodeJS.Timeout | undefined
  const ask = (): void => {
    for (const [socket, before] of bytesRead) {
      bytesRead.set(socket, socket.bytesRead)
      if (socket.bytesRead !== before || socket.writableLength > 0 || socket.timeout) continue
      // The socket reports the error of the write itself.
      if (socket.writable) socket.write('', () => undefined)
      else if (socket.readableLength > 0) socket.destroy()
    }
  }
  return (socket) => {
    socket.setKeepAlive(true, askPeerMs)
    bytesRead.set(socket, -1)
    timer ??= setInterval(ask, everyMs).unref()
    socket.once('close', () => {
      bytesRead.delete(socket)
      if (bytesRead.size > 0) return
      clearInterval(timer)
      timer = undefined
    })
  }
}
