import { withTransaction } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import type { OrganizationContext } from '../organization-context.ts'
import { lockOrganization, markOrganizationDeleted } from '../organization-store.ts'

/** Takes an organization away from everybody at once; its Docks, Snapshots and keys are removed afterwards. */
export async function deleteOrganization(
  context: OrganizationContext,
  caller: Member,
): Promise<{ deleted: true }> {
  await withTransaction(context.db, async (tx) => {
    await lockOrganization(tx, caller.organizationId)
    await markOrganizationDeleted(tx, caller.organizationId, context.clock.now())
  })
  context.wakeRemoval()
  return { deleted: true }
}
