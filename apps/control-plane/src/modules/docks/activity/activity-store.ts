/** All SQL for the activity of Docks. It runs for a timer, not for a caller, so it covers all organizations. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { DockRow } from '../core/dock.ts'
import { readyStates } from '../core/dock-state.ts'
import { dockColumns } from '../core/dock-store.ts'

/** Records that these Docks were active at `now`. */
export async function saveActivity(db: Db, dockIds: readonly string[], now: Date): Promise<void> {
  await sql`update docks set active_at = ${now} where id = any(${dockIds}::uuid[])
    and state in (${readyStates})`.execute(db)
}

/** Returns those of the Docks that are ready. */
export async function liveDocks(db: Db, dockIds: readonly string[]): Promise<DockRow[]> {
  return (
    await sql<DockRow>`select ${dockColumns} from docks d
      where d.id = any(${dockIds}::uuid[]) and d.state in (${readyStates})`.execute(db)
  ).rows
}

/** Page size of {@link inactiveDocks}. */
export const inactivePage = 200

/**
 * Returns the next page, after `after`, of Docks in this state that were not active since. The state is no parameter, because
 * only then a generic plan may use the index `docks_quiet`.
 */
export async function inactiveDocks(
  db: Db,
  state: 'ready' | 'running',
  since: Date,
  after: { activeAt: Date; id: string } | null,
): Promise<(DockRow & { activeAt: Date })[]> {
  return (
    await sql<DockRow & { activeAt: Date }>`select ${dockColumns}, d.active_at as "activeAt" from docks d
      where d.state = ${sql.lit(state)} and d.active_at <= ${since}
        and ${after ? sql`(d.active_at, d.id) > (${after.activeAt}::timestamptz, ${after.id}::uuid)` : sql`true`}
      order by d.active_at, d.id limit ${inactivePage}`.execute(db)
  ).rows
}

/** Returns those of the Docks that are placed on the host. */
export async function docksOfHost(db: Db, hostId: string, dockIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select d.id from docks d
    where d.id = any(${dockIds}::uuid[]) and d.host_id = ${hostId} and d.placed`.execute(db)
  return rows.map(({ id }) => id)
}
