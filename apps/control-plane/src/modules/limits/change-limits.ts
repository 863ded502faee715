/** PATCH /v1/organizations/:id/limits, for instance admins. */
import { type OrganizationLimits, type OrganizationLimitsChange, ServiceError } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import { changeOwnLimits } from './limit-store.ts'
import type { Limits } from './organization-limits.ts'
import { readOrganizationLimits } from './read-limits.ts'

/** Sets limits of an organization. Running Docks are not affected. Throws `organization_not_found`. */
export async function changeOrganizationLimits(
  context: { db: Db; defaults: Limits },
  organizationId: string,
  change: OrganizationLimitsChange,
): Promise<OrganizationLimits> {
  if (!(await changeOwnLimits(context.db, organizationId, change)))
    throw new ServiceError('organization_not_found')
  return readOrganizationLimits(context, organizationId)
}
