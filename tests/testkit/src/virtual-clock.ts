/** The clock of all tests that control time: it stands still until the test moves it. */
import type { Clock } from '@dock/foundation'

export type VirtualClock = Clock & {
  /** Jumps ahead, then runs each timer that became due once: a task of every second runs once in an hour. */
  advance(ms: number): void
  /** Passes through the time: runs timers in order, each with its immediate effects before the next. */
  advanceInSteps(ms: number): Promise<void>
  /** Milliseconds until each timer is due, in the order in which they were set. */
  pending(): readonly number[]
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export function createVirtualClock(startsAt = new Date('2026-01-01T00:00:00.000Z')): VirtualClock {
  let now = startsAt.getTime()
  const timers = new Set<{ at: number; callback: () => void }>()
  const dueBy = (end: number) => [...timers].filter(({ at }) => at <= end)
  return {
    now: () => new Date(now),
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance: (ms) => {
      now += ms
      for (const timer of dueBy(now)) {
        timers.delete(timer)
        timer.callback()
      }
    },
    advanceInSteps: async (ms) => {
      const end = now + ms
      for (;;) {
        const due = dueBy(end).sort((a, b) => a.at - b.at)[0]
        if (!due) break
        timers.delete(due)
        now = Math.max(now, due.at)
        due.callback()
        await settled()
      }
      now = end
      await settled()
    },
    pending: () => [...timers].map(({ at }) => at - now),
  }
}
