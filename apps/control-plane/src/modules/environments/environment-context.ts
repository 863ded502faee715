/** What the operations on Environments work with; made once by the composition. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { Limits } from '../limits/index.ts'

export type EnvironmentContext = {
  db: Db
  clock: Clock
  sealer: Sealer
  rateLimits: RateLimits
  /** What an organization may have that has no limits of its own. */
  limits: Limits
}

/** How a path names an Environment: by id, or by name beside the organization. */
export type EnvironmentReference = { ref: string; organizationId: string | undefined }
