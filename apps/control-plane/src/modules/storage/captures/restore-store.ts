/** The only SQL that records on which hosts a Snapshot's capture was restored from its copy. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { endHostOrder } from '../../hosts/index.ts'
import { captureKeepers, hostIdWithout } from './capture-keepers.ts'

export type CapturePlace = { snapshotId: string; hostId: string }

/**
 * Updates the last use of a completed Snapshot. `isKept`: the host is recorded to keep its capture. Returns null if there
 * is no such Snapshot.
 */
export async function recordCaptureUse(
  db: Db,
  { snapshotId, hostId }: CapturePlace,
  now: Date,
): Promise<{ isKept: boolean } | null> {
  return (
    (
      await sql<{ isKept: boolean }>`
      update snapshots s set used_at = ${now} where id = ${snapshotId} and status = 'completed'
      returning coalesce(s.host_id = ${hostId}, false) or exists (select 1 from snapshot_restores r
        where r.snapshot_id = s.id and r.host_id = ${hostId} and r.state = 'kept') as "isKept"`.execute(db)
    ).rows[0] ?? null
  )
}

/** Records that a restore to the host begins, so that neither an inventory nor an order removes the capture. */
export async function beginRestore(db: Db, place: CapturePlace, now: Date): Promise<void> {
  const { snapshotId, hostId } = place
  await sql`insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
    values (${snapshotId}, ${hostId}, 'restoring', ${now})
    on conflict (snapshot_id, host_id) do update set state = 'restoring', updated_at = ${now}`.execute(db)
  await endHostOrder(db, { hostId, kind: 'capture', thingId: snapshotId, generation: 0 })
}

/** Records that the host keeps the capture. */
export async function finishRestore(db: Db, { snapshotId, hostId }: CapturePlace, now: Date): Promise<void> {
  await sql`with named as (update snapshots set host_id = ${hostId}
      where id = ${snapshotId} and (host_id is null or host_id = ${hostId}) returning id),
    moved as (delete from snapshot_restores where snapshot_id = ${snapshotId} and host_id = ${hostId}
      and exists (select 1 from named))
    update snapshot_restores set state = 'kept', updated_at = ${now}
    where snapshot_id = ${snapshotId} and host_id = ${hostId} and not exists (select 1 from named)`.execute(
    db,
  )
}

/**
 * Records that a restore to the host failed. The host is no longer recorded to keep the capture if another host or a copy
 * has it.
 */
export async function endRestore(db: Db, { snapshotId, hostId }: CapturePlace): Promise<void> {
  await sql`with unnamed as (update snapshots s set host_id = ${hostIdWithout(hostId)}
      where s.id = ${snapshotId} and s.host_id = ${hostId})
    delete from snapshot_restores where snapshot_id = ${snapshotId} and host_id = ${hostId}`.execute(db)
}

/** Deletes the records of restores that an earlier process left unfinished. The caller must be the only process. */
export async function deleteUnfinishedRestores(db: Db): Promise<void> {
  await sql`delete from snapshot_restores where state = 'restoring'`.execute(db)
}

/** Returns one of the `linked` hosts that keeps the Snapshot's capture, or null. */
export async function findLinkedKeeper(
  db: Db,
  snapshotId: string,
  linked: readonly string[],
): Promise<string | null> {
  return (
    (
      await sql<{ hostId: string }>`
      select k.host_id as "hostId" from snapshots s cross join lateral ${captureKeepers} k
      where s.id = ${snapshotId} and k.host_id = any(${linked}::uuid[])
      order by k.host_id = s.host_id desc limit 1`.execute(db)
    ).rows[0]?.hostId ?? null
  )
}
