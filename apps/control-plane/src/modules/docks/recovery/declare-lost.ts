/**
 * An instance admin declares a host lost. Its Docks can then be deleted or stopped by force, and resumed elsewhere from
 * their latest copied Snapshot. Snapshots whose only capture is on the host read `failed`: resume uses the one before.
 */
import { type DeclaredLost, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import { unblockHost } from '../../../engine/index.ts'
import { declareHostLost, otherKeeper } from '../../hosts/index.ts'

/** The Docks whose Snapshots changed: `last_snapshot_at` follows what is left. */
const retellLastSnapshots = async (tx: Tx, dockIds: readonly string[]): Promise<void> => {
  await sql`update docks d set last_snapshot_at = (select max(s.created_at) from snapshots s
      where s.dock_id = d.id and s.status = 'completed')
    where d.id = any(${dockIds}::uuid[])`.execute(tx)
}

/** Repeating it is harmless. Throws `host_not_found`, or `conflict` while the host is online. */
export async function declareLost(
  { db, clock }: { db: Db; clock: Clock },
  hostId: string,
): Promise<DeclaredLost> {
  return withTransaction(db, async (tx) => {
    const now = clock.now()
    const declared = await declareHostLost(tx, hostId, now)
    if (declared === null) throw new ServiceError('host_not_found')
    if (!declared)
      throw new ServiceError('conflict', {
        message:
          'The host is online. Stop its agent first; a host is offline 30 seconds after its last word.',
      })
    // Another host that keeps the capture takes the place of the lost one.
    await sql`update snapshots s set host_id = ${otherKeeper(hostId)}
      where s.host_id = ${hostId} and ${otherKeeper(hostId)} is not null`.execute(tx)
    const lost = await sql<{ dockId: string }>`
      update snapshots s set status = 'failed', lost_at = ${now}
      where host_id = ${hostId} and status = 'completed' and copied_at is null
      returning dock_id as "dockId"`.execute(tx)
    const dockIds = [...new Set(lost.rows.map(({ dockId }) => dockId))]
    await retellLastSnapshots(tx, dockIds)
    const placed = await sql<{ count: number }>`
      select count(*)::int as count from docks where host_id = ${hostId}`.execute(tx)
    await unblockHost(tx, hostId, now)
    return { hostId, docks: placed.rows[0]!.count, failedSnapshots: lost.rows.length }
  })
}

/**
 * A host that was declared lost is back with captures: each Snapshot that was lost with it is `completed` again, unless
 * its Dock has changed since, because that Dock went on from an older Snapshot or was given up.
 */
export async function reviveSnapshots(db: Db, hostId: string, captures: readonly string[]): Promise<void> {
  if (captures.length === 0) return
  await withTransaction(db, async (tx) => {
    const revived = await sql<{ dockId: string }>`
      update snapshots s set status = 'completed', lost_at = null from docks d
      where s.id = any(${captures}::uuid[]) and s.host_id = ${hostId} and s.lost_at is not null
        and d.id = s.dock_id and d.state = 'archived' and d.state_changed_at < s.lost_at
      returning s.dock_id as "dockId"`.execute(tx)
    if (revived.rows.length > 0)
      await retellLastSnapshots(
        tx,
        revived.rows.map(({ dockId }) => dockId),
      )
  })
}
