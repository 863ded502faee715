import type { Logger } from '@dock/foundation'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { InboxContext } from './mark-read.ts'
import { pruneNotifications } from './prune-notifications.ts'
import { notificationRoutes } from './routes.ts'
import { createUnsubscribing, type Unsubscribing } from './unsubscribing.ts'

export type NotificationsModule = {
  routes: Handlers
  unsubscribing: Unsubscribing
  start(): void
  stop(): void
}

const pruneEveryMs = 3_600_000

export function createNotificationsModule(
  needs: InboxContext & {
    logger: Logger
    /** Base URL of the unsubscribe links, and the secret from which their signing key is derived. */
    apiUrl: string
    secret: string
  },
): NotificationsModule {
  const { db, clock, logger } = needs
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'old notifications', everyMs: pruneEveryMs, run: () => pruneNotifications({ db, clock }) },
    ],
  })
  return {
    routes: notificationRoutes({ db, clock }),
    unsubscribing: createUnsubscribing(needs),
    start: timers.start,
    stop: timers.stop,
  }
}
