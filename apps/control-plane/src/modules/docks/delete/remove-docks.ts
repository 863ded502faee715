/** The Docks of a deleted organization go as any Dock goes: by operations that survive a crash and wait for hosts. */
import { ServiceError } from '@dock/contract'
import { docksOfOrganization } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { claimDelete } from './delete-dock.ts'

const atOnceMax = 20

/** Begins to delete Docks that no operation holds, and answers how many there are still. Repeating it is harmless. */
export async function removeDocks(context: DockContext, organizationId: string): Promise<number> {
  const { count, free } = await docksOfOrganization(context.db, organizationId, atOnceMax)
  for (const dock of free) {
    try {
      const operation = await claimDelete(context, dock, {
        by: 'organization',
        through: 'timer',
        why: 'organization deleted',
      })
      // Interrupted or blocked, it stays in the table and is taken up again.
      void context.runner.run(operation)
    } catch (error) {
      // Taken since by an operation that was under way: the next round sees what became of it.
      if (!(error instanceof ServiceError && error.code === 'dock_busy')) throw error
    }
  }
  return count
}
