/** GET /v1/organizations/:id/limits. */
import type { OrganizationLimits } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import { readLimits, readUsage } from './limit-store.ts'
import type { Limits } from './organization-limits.ts'

/** Returns the organization's effective limits and its usage. */
export async function readOrganizationLimits(
  context: { db: Db; defaults: Limits },
  organizationId: string,
): Promise<OrganizationLimits> {
  return {
    limits: await readLimits(context.db, organizationId, context.defaults),
    usage: await readUsage(context.db, organizationId),
  }
}
