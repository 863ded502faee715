/**
 * Which hosts keep the capture of a Snapshot `s`: the one that `snapshots.host_id` names, and those that `snapshot_restores`
 * has as `kept`. These are parts of SQL statements.
 */
import { type RawBuilder, sql } from 'kysely'

/** A query of the hosts, each as `host_id`; a host that both name comes twice. */
export const captureKeepers: RawBuilder<unknown> = sql`(select s.host_id where s.host_id is not null
  union all select r.host_id from snapshot_restores r where r.snapshot_id = s.id and r.state = 'kept')`

/** Any of them; null where none keeps it. The one that is named goes first. */
export const captureKeeper: RawBuilder<string | null> = sql`coalesce(s.host_id,
  (select r.host_id from snapshot_restores r where r.snapshot_id = s.id and r.state = 'kept' limit 1))`

/** One besides this host; null where no other keeps it. */
export function otherKeeper(hostId: string): RawBuilder<string | null> {
  return sql`(select r.host_id
  from snapshot_restores r
  where r.snapshot_id = s.id and r.host_id <> ${hostId} and r.state = 'kept' limit 1)`
}

/**
 * What `host_id` becomes where it names this host, which keeps the capture no longer: another that does. The name stays
 * where neither another host nor a copy has the Snapshot.
 */
export function namedWithout(hostId: string): RawBuilder<string | null> {
  return sql`coalesce(${otherKeeper(hostId)}, case when s.copied_at is null then s.host_id end)`
}
