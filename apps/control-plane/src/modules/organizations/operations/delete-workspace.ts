import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import { isForeignKeyViolation } from '../../../database/violations.ts'
import type { Member } from '../../accounts/index.ts'
import type { OrganizationContext } from '../organization-context.ts'
import { lockOrganization } from '../organization-store.ts'
import { deleteWorkspaceRow, holdsDocks, listWorkspaceRows } from '../workspace-store.ts'

/** Deletes a workspace that holds no Dock; never the organization's only one. */
export async function deleteWorkspace(
  context: OrganizationContext,
  caller: Member,
  id: string,
): Promise<{ deleted: true }> {
  const { organizationId } = caller
  try {
    await withTransaction(context.db, async (tx) => {
      await lockOrganization(tx, organizationId)
      const workspaces = await listWorkspaceRows(tx, organizationId)
      if (!workspaces.some((workspace) => workspace.id === id)) throw new ServiceError('workspace_not_found')
      if (workspaces.length === 1)
        throw new ServiceError('validation_error', {
          message: 'The only workspace of an organization cannot be deleted; create another one first.',
        })
      if (await holdsDocks(tx, organizationId, id)) throw new ServiceError('workspace_not_empty')
      await deleteWorkspaceRow(tx, organizationId, id)
    })
  } catch (error) {
    // A Dock was created in it since it was looked into.
    throw isForeignKeyViolation(error) ? new ServiceError('workspace_not_empty') : error
  }
  return { deleted: true }
}
