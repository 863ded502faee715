import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createTimers } from '../../engine/index.ts'
import { createLiveHub } from './live-hub.ts'
import { forgetForeignTransactions, pruneChanges } from './live-store.ts'
import type { LiveContext } from './read-live.ts'

export type LiveModule = {
  context: LiveContext
  /** Handles a notification of the channel `live_changes`. */
  notice(): void
  /** Handles a notification that somebody lost access. */
  noticeAccess(): void
  start(): Promise<void>
  stop(): void
}

/** A page that was away for longer loads everything again. */
const keptMs = 10 * 60_000
const pruneEveryMs = 60_000
/** Shorter than the idle time of common proxies. */
const aliveEveryMs = 15_000
const sessionsEveryMs = 4_000

export function createLiveModule(needs: { db: Db; clock: Clock; logger: Logger }): LiveModule {
  const { db, clock, logger } = needs
  const hub = createLiveHub(needs)
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      {
        name: 'old live changes',
        everyMs: pruneEveryMs,
        run: () => pruneChanges(db, new Date(clock.now().getTime() - keptMs)),
      },
      { name: 'live streams', everyMs: aliveEveryMs, run: async () => hub.keepAlive() },
      { name: 'sessions of live streams', everyMs: sessionsEveryMs, run: hub.closeEnded },
    ],
  })
  return {
    context: { hub },
    notice: hub.wake,
    noticeAccess: () =>
      void hub
        .closeEnded()
        .catch((error: unknown) =>
          logger.warn({ err: error }, 'sessions could not be checked; the timer repeats it'),
        ),
    start: async () => {
      await forgetForeignTransactions(db)
      timers.start()
    },
    stop: () => {
      timers.stop()
      hub.closeAll()
    },
  }
}
