/** After a database restore: finds Snapshots whose captures were removed after the backup was taken. */
import { withTransaction } from '../../../database/database.ts'
import { recordMissingCaptures } from '../../storage/index.ts'
import { updateLastSnapshotAt } from '../core/last-snapshot.ts'
import type { DockContext } from '../dock-context.ts'

/** Updates the Snapshots of a host that keeps the captures `there`, and their Docks. See {@link recordMissingCaptures}. */
export function failMissingCaptures(
  { db, logger }: Pick<DockContext, 'db' | 'logger'>,
  hostId: string,
  there: readonly string[],
  before: Date,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    const gone = await recordMissingCaptures(tx, hostId, there, before)
    const docks = gone.filter(({ status }) => status === 'failed').map(({ dockId }) => dockId)
    await updateLastSnapshotAt(tx, docks)
    for (const { id, dockId, status } of gone)
      logger.warn(
        { hostId, snapshotId: id, dockId, status },
        'the capture of this Snapshot was removed after the database backup was taken',
      )
  })
}
