/** Deletes the Docks of a deleted organization, through the same operations as any other delete. */
import { ServiceError } from '@dock/contract'
import { docksOfOrganization } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { claimDelete } from './delete-dock.ts'

const atOnceMax = 20

/**
 * Starts the delete of up to 20 Docks that no operation holds. Returns the number of Docks that still exist: call again
 * until it is 0. Idempotent.
 */
export async function removeDocks(context: DockContext, organizationId: string): Promise<number> {
  const { count, free } = await docksOfOrganization(context.db, organizationId, atOnceMax)
  for (const dock of free) {
    try {
      const operation = await claimDelete(context, dock, {
        by: 'organization',
        through: 'timer',
        why: 'organization deleted',
      })
      // No need to wait: an interrupted or blocked operation stays in the table and the runner resumes it.
      void context.runner.run(operation)
    } catch (error) {
      // Another operation has taken the Dock since it was read. The next call tries again.
      if (!(error instanceof ServiceError && error.code === 'dock_busy')) throw error
    }
  }
  return count
}
