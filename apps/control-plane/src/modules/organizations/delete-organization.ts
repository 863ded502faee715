import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization, markOrganizationDeleted } from './organization-store.ts'

/**
 * Deletes an organization. It is gone for all callers when this returns; its Docks, Snapshots and keys are removed in
 * the background.
 */
export async function deleteOrganization(
  context: OrganizationContext,
  caller: Member,
): Promise<{ deleted: true }> {
  await withTransaction(context.db, async (tx) => {
    const { id } = await lockOrganization(tx, caller.organizationId)
    await markOrganizationDeleted(tx, caller, id, context.clock.now())
  })
  context.wakeRemoval()
  return { deleted: true }
}
