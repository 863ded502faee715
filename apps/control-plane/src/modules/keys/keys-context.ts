/** What the operations of keys work with; made once by the composition. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { DeviceFlow } from './device-flow.ts'

export type KeysContext = {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  sealer: Sealer
  /** Signs in with the hosted assistant's provider; null where the instance has none. */
  deviceFlow: DeviceFlow | null
}
