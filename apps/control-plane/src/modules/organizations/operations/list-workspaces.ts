import type { Workspace } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { workspaceView } from '../organization-view.ts'

/** Workspaces of one of the caller's organizations, oldest first. */
export const listWorkspaces = async (db: Db, caller: Member): Promise<Workspace[]> => {
  const rows = await db
    .selectFrom('workspaces')
    .selectAll()
    .where('organization_id', '=', caller.organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(workspaceView)
}
