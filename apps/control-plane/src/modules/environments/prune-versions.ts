/**
 * Clears the bundles of old versions and deletes the oldest versions. A version is needed while it is current, while a
 * Dock is pinned to it, and while an operation may roll a Dock back to it. Its bundle is cleared some time after that.
 * The newest versions stay in the list of versions without their bundles.
 */
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** The creation of a Dock reads the current version and pins the Dock to it later, but within this time. */
const graceMs = 3_600_000
/** Number of versions kept per Environment, in addition to the versions that Docks are pinned to. */
export const versionsKept = 100
const batch = 500

/**
 * SQL predicate on version `v` of Environment `e`: true if it was replaced before `before` and nothing may start from
 * it.
 */
const isUnneeded = (before: Date): RawBuilder<boolean> => sql<boolean>`(v.version < e.current_version
  and exists (select 1 from environment_versions n where n.environment_id = v.environment_id
    and n.version > v.version and n.created_at <= ${before})
  and not exists (select 1 from machines d where d.environment_id = v.environment_id
    and d.environment_version = v.version)
  and not exists (select 1 from operations o where o.organization_id = v.organization_id and o.status <> 'completed'
    and (o.target_id = v.environment_id or o.data -> 'before' ->> 'environmentId' = v.environment_id::text)))`

/** Prunes one batch over all organizations. The next call continues with the rest. */
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
