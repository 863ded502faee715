/** Metering in a test's time instead of the database's. Tests only. */
import type { Db } from '@dock/control-plane/src/database/database.ts'
import { sql } from 'kysely'

/** Makes the database meter at a time that {@link setMeteringTime} sets. The next day to close is the day of `now`. */
export async function useVirtualMetering(db: Db, now: Date): Promise<void> {
  await sql`create table if not exists metering_time (one boolean primary key, at timestamptz not null)`.execute(
    db,
  )
  await sql`create or replace function metering_now() returns timestamptz language sql volatile
    as 'select at from metering_time'`.execute(db)
  await setMeteringTime(db, now)
  await sql`update ledger_calendar set closed_until = metering_day()`.execute(db)
}

export async function setMeteringTime(db: Db, now: Date): Promise<void> {
  await sql`insert into metering_time (one, at) values (true, ${now})
    on conflict (one) do update set at = excluded.at`.execute(db)
}
