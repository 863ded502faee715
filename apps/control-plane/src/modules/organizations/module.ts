import type { Logger } from '@dock/foundation'
import type { Handlers } from '../../routing/handler.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { Membership } from '../accounts/index.ts'
import { findMembership, findWorkspaceMembership } from './find-membership.ts'
import { isInvitedAddress, recordSignUp } from './invitation-store.ts'
import type { OrganizationContext } from './organization-context.ts'
import {
  createOrganizationRemoval,
  type OrganizationRemoval,
  type OrganizationResource,
} from './organization-removal.ts'
import { organizationRoutes } from './routes.ts'

export type OrganizationsModule = {
  routes: Handlers
  /** Removes what deleted organizations own. */
  removal: OrganizationRemoval
  start(): void
  stop(): Promise<void>
  /** Find a person's membership by the id of an organization, or of a workspace. */
  memberships: Record<
    'ofOrganization' | 'ofWorkspace',
    (userId: string, id: string) => Promise<Membership | undefined>
  >
  /** True if an open invitation names the address, or has the token. */
  isInvited(email: string, token: string | null): Promise<boolean>
  /** Records that somebody made an account with the link that has the token. */
  recordSignUp(email: string, token: string): Promise<void>
}

export function createOrganizationsModule(
  needs: Omit<OrganizationContext, 'wakeRemoval'> & {
    logger: Logger
    sealer: Sealer
    /** What an organization owns besides the rows that a cascading delete removes. */
    resources: readonly OrganizationResource[]
  },
): OrganizationsModule {
  const { db, clock, logger, sealer, resources, rateLimits, organizationsPerPerson, appUrl, wakeMailer } =
    needs
  const { countRunsAtWork, limits } = needs
  const removal = createOrganizationRemoval({ db, clock, logger, sealer, resources })
  return {
    routes: organizationRoutes({
      db,
      clock,
      rateLimits,
      organizationsPerPerson,
      limits,
      appUrl,
      wakeMailer,
      countRunsAtWork,
      wakeRemoval: removal.wake,
    }),
    removal,
    start: removal.start,
    stop: removal.stop,
    memberships: {
      ofOrganization: (userId, id) => findMembership(db, userId, id),
      ofWorkspace: (userId, id) => findWorkspaceMembership(db, userId, id),
    },
    isInvited: (email, token) => isInvitedAddress(db, email, token, clock.now()),
    recordSignUp: (email, token) => recordSignUp(db, email, token, clock.now()),
  }
}
