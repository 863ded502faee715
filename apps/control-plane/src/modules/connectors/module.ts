import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { SocialLogins } from '../accounts/index.ts'
import { findMembership } from '../organizations/index.ts'
import { createEnvironmentGrants, type GrantFor } from './git-grant.ts'
import { createLinkedSignIns } from './linked-sign-ins.ts'

export type ConnectorsModule = {
  /** Finds what git in a Dock may do, and with which credentials. */
  grantFor: GrantFor
}

export function createConnectorsModule(needs: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  social: SocialLogins
}): ConnectorsModule {
  const { db, clock, logger, sealer, social } = needs
  const connector = createLinkedSignIns({
    db,
    clock,
    sealer,
    social,
    roleOf: async (userId, organizationId) =>
      (await findMembership(db, userId, organizationId))?.role ?? null,
  })
  return { grantFor: createEnvironmentGrants({ db, sealer, logger }, connector) }
}
