/** Detects a peer that stopped responding without closing. TCP alone would take minutes. */
import type { WebSocket } from 'ws'

/** Ping interval and timeout, in milliseconds. */
export type LivenessTimes = { pingEveryMs: number; silentAfterMs: number }

export const livenessTimes: LivenessTimes = { pingEveryMs: 5_000, silentAfterMs: 10_000 }

/**
 * Pings an open socket and terminates it if no pong and no data arrived for `silentAfterMs`. Stops when the socket
 * closes. Silence is counted in ticks of the timer instead of wall-clock time: a pause of this process counts as one
 * tick, so that it does not cut the links to all hosts.
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
