/** Finds a peer that fell silent without closing: TCP alone would notice after minutes. */
import type { WebSocket } from 'ws'

/** Times of the watch, milliseconds. */
export type LivenessTimes = { pingEveryMs: number; silentAfterMs: number }

export const livenessTimes: LivenessTimes = { pingEveryMs: 5_000, silentAfterMs: 10_000 }

/**
 * Pings an open socket and terminates it when nothing, pong or data, came for `silentAfterMs`. The watch ends with
 * the socket.
 */
export const watchLiveness = (socket: WebSocket, times: LivenessTimes = livenessTimes): void => {
  let heardAt = performance.now()
  const heard = (): void => {
    heardAt = performance.now()
  }
  const timer = setInterval(() => {
    if (performance.now() - heardAt > times.silentAfterMs) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.ping(undefined, undefined, () => undefined)
  }, times.pingEveryMs)
  timer.unref()
  socket.on('pong', heard)
  socket.on('message', heard)
  socket.on('ping', heard)
  socket.once('close', () => clearInterval(timer))
}
