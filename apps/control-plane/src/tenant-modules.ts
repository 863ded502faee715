/** Joins organizations and keys: who may do what, and what goes with whom. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from './database/database.ts'
import type { Handlers } from './http/handler.ts'
import { keyHandlers } from './http/routes/keys.ts'
import { invitationHandlers, organizationHandlers, workspaceHandlers } from './http/routes/organizations.ts'
import {
  createOrganizationRemoval,
  type OrganizationContext,
  type OrganizationRemoval,
  type OrganizationThing,
} from './modules/organizations/index.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import type { Sealer } from './sealing/index.ts'

export type TenantModules = {
  handlers: Handlers
  removal: OrganizationRemoval
  start(): void
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>
}

export const createTenantModules = (options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  rateLimits: RateLimits
  appUrl: string
  wakeMailer(): void
  /** What an organization owns beyond rows that a cascade takes. */
  things: readonly OrganizationThing[]
}): TenantModules => {
  const { db, clock, logger, sealer, rateLimits, appUrl, wakeMailer, things } = options
  const removal = createOrganizationRemoval({ db, clock, logger, sealer, things })
  const organizations: OrganizationContext = { db, clock, appUrl, wakeMailer, wakeRemoval: removal.wake }
  return {
    handlers: {
      ...organizationHandlers(organizations),
      ...invitationHandlers(organizations),
      ...workspaceHandlers(organizations),
      ...keyHandlers({ db, clock, rateLimits }),
    },
    removal,
    start: removal.start,
    stop: removal.stop,
  }
}
