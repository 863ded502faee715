/**
 * Hosts that count as lost: an instance admin declared it, or they were silent for longer than the instance waits. What
 * waited for such a host goes on without it. A host that reports again is lost no more. The only SQL for `lost_at`.
 */
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** True while the host counts as lost. */
export async function isHostLost(db: Db, hostId: string): Promise<boolean> {
  return (
    (await sql`select 1 from hosts where id = ${hostId} and lost_at is not null`.execute(db)).rows.length > 0
  )
}

/** Marks hosts as lost that were silent since `before` to a process that listened all the while; returns their ids. */
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

/** Declares a silent host lost. Returns false if the host is online, null if there is none. */
export async function declareHostLost(db: Db, hostId: string, now: Date): Promise<boolean | null> {
  const result = await sql<{ declared: boolean }>`
    update hosts set
      lost_at = case when state = 'offline' then coalesce(lost_at, ${now}) end,
      declared_lost_at = case when state = 'offline' then coalesce(declared_lost_at, ${now}) end
    where id = ${hostId} returning state = 'offline' as declared`.execute(db)
  return result.rows[0]?.declared ?? null
}
