/** The only SQL for when Docks were active. It serves every tenant: nobody calls it. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { DockRow } from '../core/dock.ts'
import { dockColumns } from '../core/dock-store.ts'

/** Notes that these Docks were active, in one statement. */
export async function saveActivity(db: Db, dockIds: readonly string[], now: Date): Promise<void> {
  await sql`update docks set active_at = ${now} where id = any(${dockIds}::uuid[])
    and state in ('ready', 'idle', 'running')`.execute(db)
}

/** Those of the Docks that are ready, in use or not. */
export async function liveDocks(db: Db, dockIds: readonly string[]): Promise<DockRow[]> {
  return (
    await sql<DockRow>`select ${dockColumns} from docks d
      where d.id = any(${dockIds}::uuid[]) and d.state in ('ready', 'idle', 'running')`.execute(db)
  ).rows
}

export const quietPage = 200

/** The next page of Docks in this state in which nothing was active since: those behind the last one of the page before. */
export async function quietDocks(
  db: Db,
  state: 'ready' | 'running',
  since: Date,
  after: { activeAt: Date; id: string } | null,
): Promise<(DockRow & { activeAt: Date })[]> {
  return (
    await sql<DockRow & { activeAt: Date }>`select ${dockColumns}, d.active_at as "activeAt" from docks d
      where d.state = ${state} and d.active_at <= ${since}
        and ${after ? sql`(d.active_at, d.id) > (${after.activeAt}::timestamptz, ${after.id}::uuid)` : sql`true`}
      order by d.active_at, d.id limit ${quietPage}`.execute(db)
  ).rows
}
