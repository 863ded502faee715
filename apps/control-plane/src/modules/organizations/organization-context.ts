/** The dependencies of this module's route handlers. Created once when the server starts. */
import type { Clock } from '@dock/foundation'
import type { Db, Tx } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Limits } from '../limits/index.ts'

export type OrganizationContext = {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  /** Maximum number of organizations that a user may own or have created. */
  organizationsPerPerson: number
  /** Default limits, for organizations without their own limits. */
  limits: Limits
  /** Base URL of links in mails. */
  appUrl: string
  /** Called after a mail was saved to the outbox. */
  wakeMailer(): void
  /** Counts what works in a workspace besides its Docks. */
  countRunsAtWork(tx: Tx, workspace: { organizationId: string; workspaceId: string }): Promise<number>
  /** Called after an organization was deleted. Starts the removal of its resources. */
  wakeRemoval(): void
}
