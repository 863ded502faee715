/** PATCH /v1/organizations/:id/limits, for instance admins, and the same for operators. */
import { type OrganizationLimits, type OrganizationLimitsChange, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { type Actor, changesOf, recordAudit } from '../audit/index.ts'
import { changeOwnLimits, lockOwnLimits, readOwnLimits } from './limit-store.ts'
import type { LimitsContext } from './limits-context.ts'
import { readOrganizationLimits } from './read-limits.ts'

/** Sets limits of an organization. Running Docks are not affected. Returns false if it does not exist. */
export function changeLimits(
  { db, clock }: { db: Db; clock: Clock },
  by: Actor,
  organizationId: string,
  change: OrganizationLimitsChange,
): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    const name = await lockOwnLimits(tx, organizationId)
    if (name === null) return false
    const before = await readOwnLimits(tx, organizationId)
    await changeOwnLimits(tx, organizationId, change)
    const details = changesOf(before, await readOwnLimits(tx, organizationId))
    const target = { type: 'organization', id: organizationId, name }
    const entry = { action: 'organization.limits_changed', now: clock.now(), organizationId, target } as const
    if (details) await recordAudit(tx, by, { ...entry, details })
    return true
  })
}

/** Sets limits of an organization and returns all of them. Throws `organization_not_found`. */
export async function changeOrganizationLimits(
  context: LimitsContext,
  caller: Actor,
  organizationId: string,
  change: OrganizationLimitsChange,
): Promise<OrganizationLimits> {
  if (!(await changeLimits(context, caller, organizationId, change)))
    throw new ServiceError('organization_not_found')
  return readOrganizationLimits(context, organizationId)
}
