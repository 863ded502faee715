import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Channels } from '../../database/listen.ts'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import { createLiveHub } from './live-hub.ts'
import { forgetForeignTransactions, pruneChanges } from './live-store.ts'
import { liveRoutes } from './routes.ts'

export type LiveModule = {
  routes: Handlers
  listens: Channels
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
    routes: liveRoutes({ hub }),
    listens: {
      live_changes: hub.wake,
      access_lost: () =>
        void hub
          .closeEnded()
          .catch((error: unknown) =>
            logger.warn({ err: error }, 'sessions could not be checked; the timer repeats it'),
          ),
    },
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
