/**
 * Stops Docks on time when their ttl runs out. It keeps one timer, set to the next stop time. Operations notify it of each
 * stop time they set; it also rereads the database every 30 s, to find times that another process has set.
 */
import type { Clock, Logger } from '@dock/foundation'

const lookAgainMs = 30_000
/** Delay before retrying a Dock that is due but cannot be stopped now, because an operation holds it. */
const retryMs = 1_000

export type TtlClock = {
  /** Tells the clock that a Dock is due to stop at this time. */
  note(stopAt: Date): void
  start(): void
  stop(): void
}

export function createTtlClock(options: {
  clock: Clock
  logger: Logger
  /** Starts the stop of all Docks that are due. */
  stopDue(): Promise<void>
  /** Returns the earliest stop time, which may be in the past. */
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
      logger.error({ err: error }, 'looking for Docks with an expired ttl failed; retrying in 1 s')
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
