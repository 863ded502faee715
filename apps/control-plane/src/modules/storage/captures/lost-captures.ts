/** Snapshots whose captures are lost with their host, return with it, or are missing from its inventory. */
import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import { otherKeeper } from './capture-keepers.ts'

/**
 * Fails the Snapshots without a copy whose only capture is on the host, and returns their Docks, one entry for each
 * Snapshot. A Snapshot whose capture another host keeps too names that host instead.
 */
export async function failCapturesOfHost(tx: Tx, hostId: string, now: Date): Promise<string[]> {
  await sql`update snapshots s set host_id = ${otherKeeper(hostId)}
    where s.host_id = ${hostId} and ${otherKeeper(hostId)} is not null`.execute(tx)
  const lost = await sql<{ dockId: string }>`
    update snapshots s set status = 'failed', lost_at = ${now}
    where host_id = ${hostId} and status = 'completed' and copied_at is null
    returning dock_id as "dockId"`.execute(tx)
  return lost.rows.map(({ dockId }) => dockId)
}

/**
 * Completes the Snapshots that {@link failCapturesOfHost} failed, and returns their Docks. The host has returned with these
 * captures. The Snapshots keep their numbers, so those that a Dock made elsewhere meanwhile stay newer.
 */
export async function completeReturnedCaptures(
  tx: Tx,
  hostId: string,
  captures: readonly string[],
): Promise<string[]> {
  const revived = await sql<{ dockId: string }>`
    update snapshots s set status = 'completed', lost_at = null
    where s.id = any(${captures}::uuid[]) and s.host_id = ${hostId} and s.lost_at is not null
    returning s.dock_id as "dockId"`.execute(tx)
  return revived.rows.map(({ dockId }) => dockId)
}

export type MissingCapture = { id: string; dockId: string; status: string }

/**
 * Updates the Snapshots that this host kept before `before` and whose captures are not in its inventory `there`. A
 * Snapshot stays `completed` if another host keeps its capture or a copy exists; otherwise it becomes `failed`. A failed
 * Snapshot names no host, so its capture goes to quarantine if it turns up after all.
 */
export async function recordMissingCaptures(
  tx: Tx,
  hostId: string,
  there: readonly string[],
  before: Date,
): Promise<MissingCapture[]> {
  await sql`delete from snapshot_restores r where r.host_id = ${hostId} and r.state = 'kept'
    and r.updated_at < ${before} and r.snapshot_id <> all(${there}::uuid[])`.execute(tx)
  const gone = await sql<MissingCapture>`
    update snapshots s set host_id = ${otherKeeper(hostId)},
      status = case when s.copied_at is null and ${otherKeeper(hostId)} is null then 'failed' else s.status end
    where s.host_id = ${hostId} and s.status = 'completed' and s.created_at < ${before}
      and s.id <> all(${there}::uuid[])
      -- A Snapshot that was completed since may be newer than the host's inventory.
      and not exists (select 1 from docks d where d.id = s.dock_id and d.last_snapshot_at >= ${before}
        and s.number = (select max(n.number) from snapshots n where n.dock_id = d.id and n.status = 'completed'))
    returning s.id, s.dock_id as "dockId", s.status`.execute(tx)
  return gone.rows
}
