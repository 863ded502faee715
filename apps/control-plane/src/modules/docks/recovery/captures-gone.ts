/** Snapshots whose captures were removed in the time that a restored database has lost. */
import { sql } from 'kysely'
import { withTransaction } from '../../../database/database.ts'
import type { DockContext } from '../dock-context.ts'

/**
 * Of the Snapshots made before `before` on this host, those that are not among the captures `there` have only their copy
 * left; without a verified one they read `failed`.
 */
export const capturesGone = (
  { db, logger }: Pick<DockContext, 'db' | 'logger'>,
  hostId: string,
  there: readonly string[],
  before: Date,
): Promise<void> =>
  withTransaction(db, async (tx) => {
    const gone = await sql<{ id: string; dockId: string; status: string }>`
      update snapshots s set host_id = case when s.copied_at is null then s.host_id end,
        status = case when s.copied_at is null then 'failed' else s.status end
      where s.host_id = ${hostId} and s.status = 'completed' and s.created_at < ${before}
        and s.id <> all(${there}::uuid[])
      returning s.id, s.dock_id as "dockId", s.status`.execute(tx)
    const docks = gone.rows.filter(({ status }) => status === 'failed').map(({ dockId }) => dockId)
    await sql`update docks d set last_snapshot_at = (select max(s.created_at) from snapshots s
        where s.dock_id = d.id and s.status = 'completed') where d.id = any(${docks}::uuid[])`.execute(tx)
    for (const { id, dockId, status } of gone.rows)
      logger.warn({ hostId, snapshotId: id, dockId, status }, 'the capture was removed since the backup')
  })
