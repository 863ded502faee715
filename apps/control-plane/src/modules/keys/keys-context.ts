/** The dependencies of this module's route handlers. Created once when the server starts. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { DeviceFlow } from './assistant/device-flow.ts'

export type KeysContext = {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  sealer: Sealer
  /** Signs users in to the hosted assistant's provider. Null if the instance has none configured. */
  deviceFlow: DeviceFlow | null
  /** Where people open the page that approves the sign-in of a machine. */
  apiUrl: string
}
