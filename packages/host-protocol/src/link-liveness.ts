/** Finds a peer that fell silent without closing: TCP alone would notice after minutes. */
import type { WebSocket } from 'ws'

/** Times of the watch, milliseconds. */
export type LivenessTimes = { pingEveryMs: number; silentAfterMs: number }

export const livenessTimes: LivenessTimes = { pingEveryMs: 5_000, silentAfterMs: 10_000 }

/**
 * Pings an open socket and terminates it when no pong and no data came for `silentAfterMs`. The watch ends with the
 * socket. Silence is counted in rounds of the watch: the time in which this process itself stood still is one round, so
 * that a pause of the control plane does not cut the links to all hosts.
 */
export function watchLiveness(socket: WebSocket, times: LivenessTimes = livenessTimes): void {
  let silentMs = 0
  const heard = (): void => {
    silentMs = 0
  }
  const timer = setInterval(() => {
    silentMs += times.pingEveryMs
    if (silentMs > times.silentAfterMs) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.ping(undefined, undefined, () => undefined)
  }, times.pingEveryMs)
  timer.unref()
  socket.on('pong', heard)
  socket.on('message', heard)
  socket.on('ping', heard)
  socket.once('close', () => clearInterval(timer))
}
