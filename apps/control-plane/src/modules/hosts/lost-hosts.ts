/**
 * Lost hosts. A host is lost once an instance admin declares it, or once it was silent for longer than the configured
 * time. Operations that wait for a lost host continue without it. A host that reports again is no longer lost. This is the
 * only SQL that sets `lost_at`; an inventory clears it.
 */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

/** Returns true while the host counts as lost. */
export async function isHostLost(db: Db, hostId: string): Promise<boolean> {
  return (
    (await sql`select 1 from hosts where id = ${hostId} and lost_at is not null`.execute(db)).rows.length > 0
  )
}

/** Marks offline hosts lost whose last heartbeat, or `listeningSince` if later, is before `before`. Returns their ids. */
export async function markLostHosts(
  db: Db,
  { before, listeningSince, now }: { before: Date; listeningSince: Date; now: Date },
): Promise<string[]> {
  return (
    await sql<{ id: string }>`
      update hosts set lost_at = ${now}
      where state = 'offline' and lost_at is null and greatest(last_heartbeat_at, ${listeningSince}) < ${before}
      returning id`.execute(db)
  ).rows.map((row) => row.id)
}

/** Declares an offline host lost. `before`: somebody has done so. Returns null if there is no such host. */
export async function declareHostLost(
  tx: Tx,
  hostId: string,
  now: Date,
): Promise<'now' | 'before' | 'online' | null> {
  const result = await sql<{ outcome: 'now' | 'before' | 'online' }>`
    with former as (select id, declared_lost_at from hosts where id = ${hostId} for update)
    update hosts h set
      lost_at = case when state = 'offline' then coalesce(lost_at, ${now}) end,
      declared_lost_at = case when state = 'offline' then coalesce(h.declared_lost_at, ${now}) end
    from former f where h.id = f.id
    returning case when state <> 'offline' then 'online' when f.declared_lost_at is null then 'now'
      else 'before' end as outcome`.execute(tx)
  return result.rows[0]?.outcome ?? null
}
