/**
 * Stops Docks whose ttl has run out, each at its moment: one timer, for the next of them. It is told of every moment
 * that is set, and looks the truth up again now and then, so that nothing is missed that another process has set.
 */
import type { Clock, Logger } from '@dock/foundation'

const lookAgainMs = 30_000
/** One that is due and cannot be stopped now, because an operation holds it. */
const retryMs = 1_000

export type TtlClock = {
  /** A Dock is to stop at this moment. */
  note(stopAt: Date): void
  start(): void
  stop(): void
}

export function createTtlClock(options: {
  clock: Clock
  logger: Logger
  /** Begins to stop what is due. */
  stopDue(): Promise<void>
  /** The earliest moment that is set, also one that has passed. */
  nextDue(): Promise<Date | null>
}): TtlClock {
  const { clock, logger } = options
  let started = false
  let armedFor = Number.POSITIVE_INFINITY
  let cancel: () => void = () => undefined

  const arm = (at: number): void => {
    if (!started || at >= armedFor) return
    cancel()
    armedFor = at
    cancel = clock.after(Math.max(0, at - clock.now().getTime()), fire)
  }

  const look = async (): Promise<number> => {
    await options.stopDue()
    const next = (await options.nextDue())?.getTime() ?? Number.POSITIVE_INFINITY
    const now = clock.now().getTime()
    return Math.min(next <= now ? now + retryMs : next, now + lookAgainMs)
  }

  const fire = (): void => {
    armedFor = Number.POSITIVE_INFINITY
    look().then(arm, (error: unknown) => {
      logger.error({ err: error }, 'looking for Docks to stop failed')
      arm(clock.now().getTime() + retryMs)
    })
  }

  return {
    note: (stopAt) => arm(stopAt.getTime()),
    start: () => {
      started = true
      fire()
    },
    stop: () => {
      started = false
      cancel()
    },
  }
}
