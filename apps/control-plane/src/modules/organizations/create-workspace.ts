import { ServiceError, type Workspace } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireRoomForWorkspace } from '../limits/index.ts'
import type { OrganizationContext } from './organization-context.ts'
import { slugCandidates } from './organization-slug.ts'
import { lockOrganization } from './organization-store.ts'
import { workspaceView } from './organization-view.ts'
import { insertWorkspaceRow } from './workspace-store.ts'

/** Creates a workspace in the caller's organization. Throws `slug_taken`, and `conflict` at the limit. */
export function createWorkspace(
  context: OrganizationContext,
  caller: Member,
  wanted: { name: string; slug?: string | undefined },
): Promise<Workspace> {
  return withTransaction(context.db, async (tx) => {
    const { organizationId } = caller
    await lockOrganization(tx, organizationId)
    await requireRoomForWorkspace(tx, organizationId, context.limits)
    const now = context.clock.now()
    for (const slug of slugCandidates(wanted, 'workspace')) {
      const row = await insertWorkspaceRow(tx, { organizationId, name: wanted.name, slug, now })
      if (!row) continue
      const target = { type: 'workspace', id: row.id, name: row.name }
      await recordAudit(tx, caller, { action: 'workspace.created', now, organizationId, target })
      return workspaceView(row)
    }
    throw new ServiceError('slug_taken')
  })
}
