/**
 * An instance admin declares a host lost. Its Docks can then be deleted or forcibly stopped, and resumed on another host
 * from their latest copied Snapshot. Snapshots whose only capture is on the host become `failed`, so a resume uses an
 * older one.
 */
import { type DeclaredLost, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../../database/database.ts'
import { unblockOperationsOfHost } from '../../../engine/index.ts'
import { type Actor, recordAudit } from '../../audit/index.ts'
import { declareHostLost } from '../../hosts/index.ts'
import { completeReturnedCaptures, failCapturesOfHost } from '../../storage/index.ts'
import { updateLastSnapshotAt } from '../core/last-snapshot.ts'

/** Idempotent. Throws `host_not_found`, or `conflict` if the host is online. */
export async function declareLost(
  { db, clock }: { db: Db; clock: Clock },
  hostId: string,
  by: Actor,
): Promise<DeclaredLost> {
  return withTransaction(db, async (tx) => {
    const now = clock.now()
    const declared = await declareHostLost(tx, hostId, now)
    if (declared === null) throw new ServiceError('host_not_found')
    if (declared === 'online')
      throw new ServiceError('conflict', {
        message:
          'The host is online. Stop its agent first. A host counts as offline 30 seconds after its last heartbeat.',
      })
    const failed = await failCapturesOfHost(tx, hostId, now)
    await updateLastSnapshotAt(tx, [...new Set(failed)])
    const placed = await sql<{ count: number }>`
      select count(*)::int as count from docks where host_id = ${hostId}`.execute(tx)
    await unblockOperationsOfHost(tx, hostId, now)
    const docks = placed.rows[0]!.count
    if (declared === 'now')
      await recordAudit(tx, by, {
        action: 'host.declared_lost',
        now,
        organizationId: null,
        target: { type: 'host', id: hostId },
        details: { docks, failedSnapshots: failed.length },
      })
    return { hostId, docks, failedSnapshots: failed.length }
  })
}

/**
 * Completes the Snapshots that failed when their host was declared lost, because the host has returned with their
 * captures. This does not depend on what became of their Docks: otherwise nobody could use these captures.
 */
export async function completeReturnedSnapshots(
  db: Db,
  hostId: string,
  captures: readonly string[],
): Promise<void> {
  if (captures.length === 0) return
  await withTransaction(db, async (tx) => {
    const dockIds = await completeReturnedCaptures(tx, hostId, captures)
    if (dockIds.length > 0) await updateLastSnapshotAt(tx, dockIds)
  })
}
