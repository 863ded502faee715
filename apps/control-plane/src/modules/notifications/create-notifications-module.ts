import type { Logger } from '@dock/foundation'
import { createTimers } from '../../engine/index.ts'
import { pruneNotifications } from './prune-notifications.ts'
import type { InboxContext } from './routes/mark-read.ts'

export type NotificationsModule = { context: InboxContext; start(): void; stop(): void }

const pruneEveryMs = 3_600_000

export function createNotificationsModule(needs: InboxContext & { logger: Logger }): NotificationsModule {
  const { db, clock, logger } = needs
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'old notifications', everyMs: pruneEveryMs, run: () => pruneNotifications({ db, clock }) },
    ],
  })
  return { context: { db, clock }, start: timers.start, stop: timers.stop }
}
