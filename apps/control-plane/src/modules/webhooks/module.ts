/** Constructs the webhooks module: its sender and its upkeep. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Channels } from '../../database/listen.ts'
import { createTimers } from '../../engine/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { Sealer } from '../../sealing/index.ts'
import { closeLostAttempts, pruneDeliveries } from './prune-deliveries.ts'
import type { PublicWeb } from './public-web.ts'
import { webhookRoutes } from './routes.ts'
import { createWebhookSender } from './webhook-sender.ts'

export type WebhooksModule = {
  routes: Handlers
  listens: Channels
  start(): void
  /** Resolves when no request is in flight. */
  stop(): Promise<void>
}

const hourMs = 3_600_000

export function createWebhooksModule(options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  rateLimits: RateLimits
  web: PublicWeb
}): WebhooksModule {
  const { db, clock, logger, sealer, rateLimits, web } = options
  const sender = createWebhookSender({ db, clock, logger, sealer, web })
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'lost webhook requests', everyMs: 10_000, run: () => closeLostAttempts({ db, clock }) },
      { name: 'old webhook deliveries', everyMs: hourMs, run: () => pruneDeliveries({ db, clock }) },
    ],
  })
  return {
    routes: webhookRoutes({ db, clock, sealer, rateLimits, web }),
    listens: { webhook_deliveries: sender.wake },
    start: () => {
      sender.start()
      timers.start()
    },
    stop: async () => {
      timers.stop()
      await sender.stop()
    },
  }
}
