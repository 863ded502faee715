import { ServiceError, type Workspace } from '@dock/contract'
import { isUniqueViolation } from '../../database/violations.ts'
import type { Member } from '../accounts/index.ts'
import { readWorkspace } from './list-workspaces.ts'
import type { OrganizationContext } from './organization-context.ts'
import { workspaceView } from './organization-view.ts'
import { updateWorkspaceRow } from './workspace-store.ts'

/** Changes only the fields that are present. Throws `workspace_not_found` and `slug_taken`. */
export async function updateWorkspace(
  context: OrganizationContext,
  caller: Member,
  id: string,
  changes: { name?: string | undefined; slug?: string | undefined },
): Promise<Workspace> {
  const { db, clock } = context
  if (Object.keys(changes).length === 0) return readWorkspace(db, caller, id)
  try {
    const row = await updateWorkspaceRow(db, caller.organizationId, id, { ...changes, now: clock.now() })
    if (!row) throw new ServiceError('workspace_not_found')
    return workspaceView(row)
  } catch (error) {
    throw isUniqueViolation(error, 'workspaces_slug') ? new ServiceError('slug_taken') : error
  }
}
