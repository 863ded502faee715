/**
 * Old versions of Environments let go of what they hold. A version is needed while it is current, while a Dock is pinned
 * to it, and while an operation may return a Dock to it; its bundle is cleared a while after that. Of versions without
 * bundles the newest are kept for the list of versions.
 */
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** A create reads the current version before it pins its Dock: within this time it has. */
const graceMs = 3_600_000
/** Versions of one Environment that are listed, beside those that Docks are pinned to. */
export const versionsKept = 100
const batch = 500

/** Of `v` and `e`: replaced before the time given, with nothing that may start from it. */
const isUnneeded = (before: Date): RawBuilder<boolean> => sql<boolean>`(v.version < e.current_version
  and exists (select 1 from environment_versions n where n.environment_id = v.environment_id
    and n.version > v.version and n.created_at <= ${before})
  and not exists (select 1 from docks d where d.environment_id = v.environment_id
    and d.environment_version = v.version)
  and not exists (select 1 from operations o where o.organization_id = v.organization_id and o.status <> 'completed'
    and (o.target_id = v.environment_id or o.data -> 'before' ->> 'environmentId' = v.environment_id::text)))`

/** One round, over every tenant; the next one goes on where it ends. */
export async function pruneVersions({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const now = clock.now()
  const before = new Date(now.getTime() - graceMs)
  await sql`update environment_versions set bundle_sealed = null, bundle_cleared_at = ${now}
    where id in (select v.id from environment_versions v join environments e on e.id = v.environment_id
      where v.bundle_sealed is not null and ${isUnneeded(before)} limit ${batch})`.execute(db)
  await sql`delete from environment_versions
    where id in (select v.id from environments e join environment_versions v
        on v.environment_id = e.id and v.version <= e.current_version - ${versionsKept}::int
      where v.bundle_sealed is null and ${isUnneeded(before)} limit ${batch})`.execute(db)
}
