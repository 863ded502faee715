/**
 * SQL fragments that find the hosts that keep the capture of a Snapshot `s`. These are the host in `snapshots.host_id` and
 * the hosts with a `kept` row in `snapshot_restores`.
 */
import { type RawBuilder, sql } from 'kysely'

/** SQL query of `host_id`: every host that keeps the capture. A host that is recorded in both tables appears twice. */
export const captureKeepers: RawBuilder<unknown> = sql`(select s.host_id where s.host_id is not null
  union all select r.host_id from snapshot_restores r where r.snapshot_id = s.id and r.state = 'kept')`

/** SQL expression: one host that keeps the capture, preferably `snapshots.host_id`; null if no host does. */
export const anyCaptureKeeper: RawBuilder<string | null> = sql`coalesce(s.host_id,
  (select r.host_id from snapshot_restores r where r.snapshot_id = s.id and r.state = 'kept' limit 1))`

/** SQL expression: a host other than `hostId` that keeps the capture; null if there is none. */
export function otherKeeper(hostId: string): RawBuilder<string | null> {
  return sql`(select r.host_id
  from snapshot_restores r
  where r.snapshot_id = s.id and r.host_id <> ${hostId} and r.state = 'kept' limit 1)`
}

/**
 * SQL expression: the new `snapshots.host_id` once `hostId` no longer keeps the capture. It is another host that keeps the
 * capture, or null if only a copy is left. If there is no copy either, `host_id` is unchanged.
 */
export function hostIdWithout(hostId: string): RawBuilder<string | null> {
  return sql`coalesce(${otherKeeper(hostId)}, case when s.copied_at is null then s.host_id end)`
}
