import { ServiceError, type Workspace } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { workspaceView } from './organization-view.ts'
import { findWorkspaceRow, listWorkspaceRows } from './workspace-store.ts'

/** Returns the workspaces of the caller's organization, oldest first. */
export async function listWorkspaces(db: Db, caller: Member): Promise<Workspace[]> {
  return (await listWorkspaceRows(db, caller.organizationId)).map(workspaceView)
}

/** Returns a workspace of the caller's organization. Throws `workspace_not_found`. */
export async function readWorkspace(db: Db, caller: Member, id: string): Promise<Workspace> {
  const row = await findWorkspaceRow(db, caller.organizationId, id)
  if (!row) throw new ServiceError('workspace_not_found')
  return workspaceView(row)
}
