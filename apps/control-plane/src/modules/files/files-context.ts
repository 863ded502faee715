/** The dependencies of this module's operations. Created once when the server starts. */
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { AccessSignals } from '../accounts/index.ts'
import type { DockContext } from '../docks/index.ts'
import type { OpenRequests } from './open-requests.ts'

export type FilesContext = {
  docks: DockContext
  rateLimits: RateLimits
  accessSignals: AccessSignals
  open: OpenRequests
}
