import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { DockActivity } from '../docks/index.ts'
import type { HostGateway } from '../hosts/index.ts'
import type { OpenTerminals } from './open-terminals.ts'

/** The calls that a terminal needs to attach to a kept process. */
export type AttachHosts = Pick<
  HostGateway,
  'readKept' | 'waitForKept' | 'openKeptOutput' | 'writeKeptInput' | 'resizeKept'
>

/** The dependencies of this module's operations. Created once when the server starts. */
export type TerminalContext = {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  hosts: Pick<HostGateway, 'openProcess'> & AttachHosts
  activity: DockActivity
  open: OpenTerminals
}
