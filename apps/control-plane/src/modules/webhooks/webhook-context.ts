/** What the routes of this module use. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { PublicWeb } from './public-web.ts'

export type WebhookContext = {
  db: Db
  clock: Clock
  sealer: Sealer
  rateLimits: RateLimits
  web: PublicWeb
}
