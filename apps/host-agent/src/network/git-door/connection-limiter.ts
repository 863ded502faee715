/** Rate limit for new connections of one Dock: a token bucket with a queue. */
import type { Clock } from '@dock/foundation'

/** A clone takes three connections, and by default an Environment has at most fifty repositories. */
export const burst = 200
export const refillMs = 200

export type ConnectionLimiter = {
  /** Calls `begin` when the connection may start. The returned function removes it from the queue. */
  take(begin: () => void): () => void
  close(): void
}

export function createConnectionLimiter(clock: Clock): ConnectionLimiter {
  let left = burst
  const waiting = new Set<() => void>()
  let cancel: (() => void) | null = null
  const refill = (): void => {
    const [next] = waiting
    if (next) {
      waiting.delete(next)
      next()
    } else left += 1
    cancel = left < burst ? clock.after(refillMs, refill) : null
  }
  return {
    take: (begin) => {
      cancel ??= clock.after(refillMs, refill)
      if (left > 0) {
        left -= 1
        begin()
      } else waiting.add(begin)
      return () => void waiting.delete(begin)
    },
    close: () => {
      cancel?.()
      waiting.clear()
    },
  }
}
