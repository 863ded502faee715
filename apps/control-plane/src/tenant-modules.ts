/** Wires up organizations, Environments and keys, and the removal of everything that a deleted organization owns. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from './database/database.ts'
import type { Handlers } from './http/handler.ts'
import { environmentHandlers } from './http/routes/environments.ts'
import { assistantHandlers, keyHandlers, providerKeyHandlers } from './http/routes/keys.ts'
import { limitHandlers } from './http/routes/limits.ts'
import { invitationHandlers, organizationHandlers, workspaceHandlers } from './http/routes/organizations.ts'
import { createDeviceFlow, type DeviceFlowSettings, type KeysContext } from './modules/keys/index.ts'
import type { InstanceLimits } from './modules/limits/index.ts'
import {
  createOrganizationRemoval,
  type OrganizationContext,
  type OrganizationRemoval,
  type OrganizationResource,
} from './modules/organizations/index.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import { sealedColumns } from './sealed-columns.ts'
import { createKeyUpkeep, type KeyRing, type Sealer } from './sealing/index.ts'

export type TenantModules = {
  handlers: Handlers
  removal: OrganizationRemoval
  start(): void
  /** Resolves when no background work is running. */
  stop(): Promise<void>
}

export function createTenantModules(options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  keyRing: KeyRing
  rateLimits: RateLimits
  appUrl: string
  /** Undefined: sign-in with the hosted assistant's provider is off. */
  chatgpt: DeviceFlowSettings | undefined
  limits: InstanceLimits
  wakeMailer(): void
  /** What an organization owns besides the rows that a cascading delete removes. */
  things: readonly OrganizationResource[]
}): TenantModules {
  const { db, clock, logger, sealer, rateLimits, appUrl, wakeMailer, things } = options
  const removal = createOrganizationRemoval({ db, clock, logger, sealer, things })
  const upkeep = createKeyUpkeep({
    db,
    clock,
    logger,
    sealer,
    ring: options.keyRing,
    columns: sealedColumns,
  })
  const organizations: OrganizationContext = {
    db,
    clock,
    rateLimits,
    appUrl,
    organizationsPerPerson: options.limits.organizationsPerPerson,
    wakeMailer,
    wakeRemoval: removal.wake,
  }
  const keys: KeysContext = {
    db,
    clock,
    rateLimits,
    sealer,
    deviceFlow: options.chatgpt ? createDeviceFlow(options.chatgpt) : null,
  }
  return {
    handlers: {
      ...organizationHandlers(organizations),
      ...invitationHandlers(organizations),
      ...workspaceHandlers(organizations),
      ...limitHandlers({ db, defaults: options.limits.organization }),
      ...environmentHandlers({
        ...{ db, clock, sealer, rateLimits },
        limits: options.limits.organization,
      }),
      ...keyHandlers(keys),
      ...providerKeyHandlers(keys),
      ...assistantHandlers(keys),
    },
    removal,
    start: () => {
      removal.start()
      upkeep.start()
    },
    stop: async () => {
      await Promise.all([removal.stop(), upkeep.stop()])
    },
  }
}
