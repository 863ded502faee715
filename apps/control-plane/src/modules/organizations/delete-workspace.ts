import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { isForeignKeyViolation } from '../../database/violations.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization } from './organization-store.ts'
import { deleteWorkspaceRow, hasDocks, listWorkspaceRows } from './workspace-store.ts'

/**
 * Deletes a workspace. Throws `workspace_not_empty` if it contains Docks in any state or a Run is at work in it, and
 * `validation_error` if it is the organization's only workspace.
 */
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
      const workspace = workspaces.find((each) => each.id === id)
      if (!workspace) throw new ServiceError('workspace_not_found')
      if (workspaces.length === 1)
        throw new ServiceError('validation_error', {
          message:
            'An organization needs at least one workspace. Create another workspace before you delete this one.',
        })
      if (await hasDocks(tx, organizationId, id)) throw new ServiceError('workspace_not_empty')
      // The Run's row goes with the workspace, and nobody would tell the issue at GitHub that the work has ended.
      if ((await context.countRunsAtWork(tx, { organizationId, workspaceId: id })) > 0)
        throw new ServiceError('workspace_not_empty', {
          message: 'A GitHub Run works in this workspace. Stop the Run, then delete the workspace.',
        })
      await deleteWorkspaceRow(tx, organizationId, id)
      const target = { type: 'workspace', id, name: workspace.name }
      const now = context.clock.now()
      await recordAudit(tx, caller, { action: 'workspace.deleted', now, organizationId, target })
    })
  } catch (error) {
    // A concurrent request created a Dock in the workspace after the check.
    throw isForeignKeyViolation(error) ? new ServiceError('workspace_not_empty') : error
  }
  return { deleted: true }
}
