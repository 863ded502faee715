/** The dependencies of this module's route handlers. Created once when the server starts. */
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
  /** Default limits, for organizations without their own limits. */
  limits: Limits
}

/** Identifies an Environment by id, or by name together with the organization. */
export type EnvironmentReference = { ref: string; organizationId: string | undefined }
