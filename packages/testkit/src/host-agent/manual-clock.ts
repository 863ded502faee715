/** A clock that a test advances. */
import type { Clock } from '@dock/foundation'

export type ManualClock = Clock & {
  /** Advances the clock and runs due timers in order. Waits for each timer's immediate effects before the next. */
  advance(ms: number): Promise<void>
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export function createManualClock(): ManualClock {
  let now = Date.now()
  const timers = new Set<{ at: number; callback: () => void }>()
  return {
    now: () => new Date(now),
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance: async (ms) => {
      const end = now + ms
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers.delete(due)
        now = Math.max(now, due.at)
        due.callback()
        await settled()
      }
      now = end
      await settled()
    },
  }
}
