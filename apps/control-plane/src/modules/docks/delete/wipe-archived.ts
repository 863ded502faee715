/**
 * Zero data retention: what an organization had at rest when it turned the policy on goes, archived Docks with all
 * that is kept of them. A reconciler: it looks afresh each time, so it also takes what was archived while it was turned on.
 */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { DockRow } from '../core/dock.ts'
import { dockColumns } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { claimDelete } from './delete-dock.ts'

/** Deletes that run at a time. */
const pageSize = 20
/** Before the first id. */
const start = '00000000-0000-0000-0000-000000000000'

/**
 * The next archived Docks behind this id that no operation holds, in organizations under the policy: those of before it,
 * and those of which more is left than their rows.
 */
const archivedDocks = async ({ db }: DockContext, after: string): Promise<DockRow[]> =>
  (
    await sql<DockRow>`select ${dockColumns} from docks d
      join organizations o on o.id = d.organization_id and o.retention_enabled
      where d.state = 'archived' and d.id > ${after}
        and (d.state_changed_at < o.retention_since or d.env_sealed is not null or d.setup_error <> 'stopped'
          or exists (select 1 from snapshots s where s.dock_id = d.id)
          or exists (select 1 from exec_keys k where k.dock_id = d.id and k.outcome_sealed is not null))
        and not exists (select 1 from operations p where p.dock_id = d.id and p.status <> 'completed')
      order by d.id limit ${pageSize}`.execute(db)
  ).rows

/** Deletes one, by an operation that survives a crash. */
const wipe = async (context: DockContext, dock: DockRow): Promise<void> => {
  try {
    const cause = { by: 'retention', through: 'timer', why: 'zero data retention' } as const
    await context.runner.run(await claimDelete(context, dock, cause))
  } catch (error) {
    // Held by an operation, or by a Template that goes first: the next round finds it free.
    if (!(error instanceof ServiceError))
      context.logger.warn(
        { dockId: dock.id, err: error },
        'archived Dock not wiped; the next round repeats it',
      )
  }
}

const wipeAll = async (context: DockContext): Promise<void> => {
  for (let after = start; ; ) {
    const page = await archivedDocks(context, after)
    const last = page.at(-1)
    if (!last) return
    await Promise.all(page.map((dock) => wipe(context, dock)))
    after = last.id
  }
}

const underWay = new WeakMap<DockContext, Promise<void>>()

/**
 * One round over all of them, page by page, so that those that cannot go now keep no other waiting. A call during a round
 * joins it.
 */
export function wipeArchivedDocks(context: DockContext): Promise<void> {
  const joined = underWay.get(context) ?? wipeAll(context).finally(() => underWay.delete(context))
  underWay.set(context, joined)
  return joined
}
