import type { DockProcess } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { AccessSignals } from '../accounts/index.ts'
import type { DockActivity } from '../docks/index.ts'
import type { HostKeptProcesses } from '../hosts/index.ts'
import type { OpenStreams } from './open-streams.ts'

/** The dependencies of this module's operations. Created once when the server starts. */
export type ProcessContext = {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  hosts: HostKeptProcesses
  activity: DockActivity
  /** Ends streams of people who lose their access. */
  accessSignals: Pick<AccessSignals, 'subscribe'>
  streams: OpenStreams
  /** Starts with an idempotency key that are under way in this process, by Dock and key. */
  keyed: Map<string, Promise<DockProcess>>
}
