/**
 * Zero data retention: deletes the archived Docks, with all their data, of organizations that have turned the policy on.
 * It is a reconciler that reads the current state in each round, so it also finds Docks that were archived while the
 * policy was being turned on.
 */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { DockRow } from '../core/dock.ts'
import { dockColumns } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { claimDelete } from './delete-dock.ts'

/** Number of deletes that run concurrently. */
const pageSize = 20
/** Sorts before every id. */
const start = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the next archived Docks after this id that no operation holds, in organizations with the policy. A Dock
 * qualifies if it was archived before the policy, if the stop that archived it saved a Snapshot, or if it has data that
 * no resume can use. A forced stop keeps earlier Snapshots, so a Dock that has only those does not qualify.
 */
const archivedDocks = async ({ db }: DockContext, after: string): Promise<DockRow[]> =>
  (
    await sql<DockRow>`select ${dockColumns} from docks d
      join organizations o on o.id = d.organization_id and o.retention_enabled
      where d.state = 'archived' and d.id > ${after}
        and (d.state_changed_at < o.retention_since or d.last_snapshot_at >= d.state_changed_at
          or (not exists (select 1 from snapshots s where s.dock_id = d.id and s.status = 'completed')
            and (d.env_sealed is not null or d.setup_error <> 'stopped'
              or exists (select 1 from snapshots s where s.dock_id = d.id)
              or exists (select 1 from exec_keys k where k.dock_id = d.id and k.outcome_sealed is not null))))
        and not exists (select 1 from operations p where p.dock_id = d.id and p.status <> 'completed')
      order by d.id limit ${pageSize}`.execute(db)
  ).rows

/** Deletes one Dock through a normal delete operation. */
const wipe = async (context: DockContext, dock: DockRow): Promise<void> => {
  try {
    const cause = { by: 'retention', through: 'timer', why: 'zero data retention' } as const
    await context.runner.run(await claimDelete(context, dock, cause))
  } catch (error) {
    // An operation or a Template still holds the Dock. The next round tries again.
    if (!(error instanceof ServiceError))
      context.logger.warn(
        { dockId: dock.id, err: error },
        'deleting an archived Dock under zero data retention failed; the next round retries',
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
 * Runs one round over all such Docks. It goes on page by page, so Docks that cannot be deleted now do not delay others.
 * A call during a round joins it.
 */
export function wipeArchivedDocks(context: DockContext): Promise<void> {
  const joined = underWay.get(context) ?? wipeAll(context).finally(() => underWay.delete(context))
  underWay.set(context, joined)
  return joined
}
