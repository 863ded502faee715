/**
 * Lost hosts. A host is lost once an instance admin declares it, or once it was silent for longer than the configured
 * time. Operations that wait for a lost host continue without it. A host that reports again is no longer lost. This is the
 * only SQL that sets `lost_at`; an inventory clears it.
 */
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

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

/** Declares an offline host lost. Returns false if the host is online, null if there is no such host. */
export async function declareHostLost(db: Db, hostId: string, now: Date): Promise<boolean | null> {
  const result = await sql<{ declared: boolean }>`
    update hosts set
      lost_at = case when state = 'offline' then coalesce(lost_at, ${now}) end,
      declared_lost_at = case when state = 'offline' then coalesce(declared_lost_at, ${now}) end
    where id = ${hostId} returning state = 'offline' as declared`.execute(db)
  return result.rows[0]?.declared ?? null
}
