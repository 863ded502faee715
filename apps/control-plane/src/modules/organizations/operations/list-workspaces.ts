import type { Workspace } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { workspaceView } from '../organization-view.ts'
import { requireRole } from '../require-role.ts'

/** Workspaces of one of the caller's organizations, oldest first. */
export const listWorkspaces = async (
  db: Db,
  caller: Caller,
  organizationId: string,
): Promise<Workspace[]> => {
  await requireRole(db, caller, organizationId, 'member', 'organization_not_found')
  const rows = await db
    .selectFrom('workspaces')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(workspaceView)
}
