/** After a database restore: finds Snapshots whose captures were removed after the backup was taken. */
import { sql } from 'kysely'
import { withTransaction } from '../../../database/database.ts'
import { otherKeeper } from '../../hosts/index.ts'
import type { DockContext } from '../dock-context.ts'

/**
 * Updates the Snapshots that this host kept before `before` and whose captures are not in its inventory `there`. A
 * Snapshot stays `completed` if another host keeps its capture or a copy exists; otherwise it becomes `failed`. A failed
 * Snapshot names no host, so its capture goes to quarantine if it turns up after all.
 */
export function failMissingCaptures(
  { db, logger }: Pick<DockContext, 'db' | 'logger'>,
  hostId: string,
  there: readonly string[],
  before: Date,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    await sql`delete from snapshot_restores r where r.host_id = ${hostId} and r.state = 'kept'
      and r.updated_at < ${before} and r.snapshot_id <> all(${there}::uuid[])`.execute(tx)
    const gone = await sql<{ id: string; dockId: string; status: string }>`
      update snapshots s set host_id = ${otherKeeper(hostId)},
        status = case when s.copied_at is null and ${otherKeeper(hostId)} is null then 'failed' else s.status end
      where s.host_id = ${hostId} and s.status = 'completed' and s.created_at < ${before}
        and s.id <> all(${there}::uuid[])
        -- A Snapshot that was completed since may be newer than the host's inventory.
        and not exists (select 1 from docks d where d.id = s.dock_id and d.last_snapshot_at >= ${before}
          and s.number = (select max(n.number) from snapshots n where n.dock_id = d.id and n.status = 'completed'))
      returning s.id, s.dock_id as "dockId", s.status`.execute(tx)
    const docks = gone.rows.filter(({ status }) => status === 'failed').map(({ dockId }) => dockId)
    await sql`update docks d set last_snapshot_at = (select max(s.created_at) from snapshots s
        where s.dock_id = d.id and s.status = 'completed') where d.id = any(${docks}::uuid[])`.execute(tx)
    for (const { id, dockId, status } of gone.rows)
      logger.warn(
        { hostId, snapshotId: id, dockId, status },
        'the capture of this Snapshot was removed after the database backup was taken',
      )
  })
}
