/** What the operations of organizations work with; made once by the composition. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'

export type OrganizationContext = {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  /** How many organizations one person may own or have made. */
  organizationsPerPerson: number
  /** Where links in mails lead. */
  appUrl: string
  /** A mail was saved. */
  wakeMailer(): void
  /** An organization was deleted: what it has can go. */
  wakeRemoval(): void
}
