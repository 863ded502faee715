/** When the connections of one Dock begin: a burst at once, and each later one in its turn. */
import type { Clock } from '@dock/foundation'

/** A clone is three connections, and an Environment has up to fifty repositories where an operator raised nothing. */
export const burst = 200
export const turnMs = 200

export type ConnectionTurns = {
  /** Calls `begin` when it is the connection's turn. The returned function gives the turn up. */
  take(begin: () => void): () => void
  close(): void
}

export function createConnectionTurns(clock: Clock): ConnectionTurns {
  let left = burst
  const waiting = new Set<() => void>()
  let cancel: (() => void) | null = null
  const refill = (): void => {
    const [next] = waiting
    if (next) {
      waiting.delete(next)
      next()
    } else left += 1
    cancel = left < burst ? clock.after(turnMs, refill) : null
  }
  return {
    take: (begin) => {
      cancel ??= clock.after(turnMs, refill)
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
