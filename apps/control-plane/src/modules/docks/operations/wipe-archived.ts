/**
 * Zero data retention: what an organization had at rest when it turned the policy on goes, archived Docks with all
 * that is kept of them. A reconciler: it looks afresh each time, so it also takes what was archived while it was turned on.
 */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { DockRow } from '../dock.ts'
import type { DockContext } from '../dock-context.ts'
import { dockColumns } from '../dock-store.ts'
import { claimDelete } from './delete-dock.ts'

const atOnceMax = 20

/**
 * Archived Docks that no operation holds, in organizations under the policy: those of before it, and those of which more
 * is left than their rows.
 */
const archivedDocks = async ({ db }: DockContext): Promise<DockRow[]> =>
  (
    await sql<DockRow>`select ${dockColumns} from docks d
      join organizations o on o.id = d.organization_id and o.retention_enabled
      where d.state = 'archived' and (d.state_changed_at < o.retention_since or d.env_sealed is not null or d.setup_error <> 'stopped'
          or exists (select 1 from snapshots s where s.dock_id = d.id)
          or exists (select 1 from exec_keys k where k.dock_id = d.id and k.outcome_sealed is not null))
        and not exists (select 1 from operations p where p.dock_id = d.id and p.status <> 'completed')
      limit ${atOnceMax}`.execute(db)
  ).rows

/** Begins to delete them, each by an operation that survives a crash. */
export const wipeArchivedDocks = async (context: DockContext): Promise<void> => {
  for (const dock of await archivedDocks(context)) {
    try {
      const cause = { by: 'retention', through: 'timer', why: 'zero data retention' } as const
      void context.runner.run(await claimDelete(context, dock, cause))
    } catch (error) {
      // Held by an operation, or by a Template that goes first: the next round finds it free.
      if (!(error instanceof ServiceError)) throw error
    }
  }
}
