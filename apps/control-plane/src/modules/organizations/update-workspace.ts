import { ServiceError, type Workspace } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/violations.ts'
import type { Member } from '../accounts/index.ts'
import { changesOf, recordAudit } from '../audit/index.ts'
import { readWorkspace } from './list-workspaces.ts'
import type { OrganizationContext } from './organization-context.ts'
import { workspaceView } from './organization-view.ts'
import { lockWorkspaceRow, updateWorkspaceRow } from './workspace-store.ts'

/** Changes only the fields that are present. Throws `workspace_not_found` and `slug_taken`. */
export async function updateWorkspace(
  context: OrganizationContext,
  caller: Member,
  id: string,
  changes: { name?: string | undefined; slug?: string | undefined },
): Promise<Workspace> {
  const { db, clock } = context
  if (Object.keys(changes).length === 0) return readWorkspace(db, caller, id)
  const { organizationId } = caller
  const now = clock.now()
  try {
    return await withTransaction(db, async (tx) => {
      const before = await lockWorkspaceRow(tx, organizationId, id)
      if (!before) throw new ServiceError('workspace_not_found')
      const row = await updateWorkspaceRow(tx, organizationId, id, { ...changes, now })
      const details = changesOf(before, changes)
      const target = { type: 'workspace', id, name: row.name }
      if (details)
        await recordAudit(tx, caller, { action: 'workspace.updated', now, organizationId, target, details })
      return workspaceView(row)
    })
  } catch (error) {
    throw isUniqueViolation(error, 'workspaces_slug') ? new ServiceError('slug_taken') : error
  }
}
