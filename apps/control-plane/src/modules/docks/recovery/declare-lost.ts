/**
 * An instance admin declares a host lost. Its Docks can then be deleted or forcibly stopped, and resumed on another host
 * from their latest copied Snapshot. Snapshots whose only capture is on the host become `failed`, so a resume uses an
 * older one.
 */
import { type DeclaredLost, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import { unblockOperationsOfHost } from '../../../engine/index.ts'
import { declareHostLost, otherKeeper } from '../../hosts/index.ts'

/** Recomputes `last_snapshot_at` of Docks whose Snapshots changed. */
const updateLastSnapshotAt = async (tx: Tx, dockIds: readonly string[]): Promise<void> => {
  await sql`update docks d set last_snapshot_at = (select max(s.created_at) from snapshots s
      where s.dock_id = d.id and s.status = 'completed')
    where d.id = any(${dockIds}::uuid[])`.execute(tx)
}

/** Idempotent. Throws `host_not_found`, or `conflict` if the host is online. */
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
          'The host is online. Stop its agent first. A host counts as offline 30 seconds after its last heartbeat.',
      })
    // If another host keeps the capture too, the Snapshot names that host instead.
    await sql`update snapshots s set host_id = ${otherKeeper(hostId)}
      where s.host_id = ${hostId} and ${otherKeeper(hostId)} is not null`.execute(tx)
    const lost = await sql<{ dockId: string }>`
      update snapshots s set status = 'failed', lost_at = ${now}
      where host_id = ${hostId} and status = 'completed' and copied_at is null
      returning dock_id as "dockId"`.execute(tx)
    const dockIds = [...new Set(lost.rows.map(({ dockId }) => dockId))]
    await updateLastSnapshotAt(tx, dockIds)
    const placed = await sql<{ count: number }>`
      select count(*)::int as count from docks where host_id = ${hostId}`.execute(tx)
    await unblockOperationsOfHost(tx, hostId, now)
    return { hostId, docks: placed.rows[0]!.count, failedSnapshots: lost.rows.length }
  })
}

/**
 * Completes the Snapshots that failed when their host was declared lost, because the host has returned with their
 * captures. Snapshots of Docks whose state changed since stay failed: those Docks went on from an older Snapshot or were
 * given up.
 */
export async function completeReturnedSnapshots(
  db: Db,
  hostId: string,
  captures: readonly string[],
): Promise<void> {
  if (captures.length === 0) return
  await withTransaction(db, async (tx) => {
    const revived = await sql<{ dockId: string }>`
      update snapshots s set status = 'completed', lost_at = null from docks d
      where s.id = any(${captures}::uuid[]) and s.host_id = ${hostId} and s.lost_at is not null
        and d.id = s.dock_id and d.state = 'archived' and d.state_changed_at < s.lost_at
      returning s.dock_id as "dockId"`.execute(tx)
    if (revived.rows.length > 0)
      await updateLastSnapshotAt(
        tx,
        revived.rows.map(({ dockId }) => dockId),
      )
  })
}
