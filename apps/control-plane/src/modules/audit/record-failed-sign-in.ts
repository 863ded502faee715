import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** Attempts from one address within this time are one entry, so that an attack does not fill the log. */
const countedMs = 600_000

/**
 * Records that somebody tried to sign in to a known account with a wrong password, for the organizations of the person. An
 * address that is no account's leaves nothing. `details.attempts` counts what came from the same address.
 */
export async function recordFailedSignIn(
  db: Db,
  { email, address, now }: { email: string; address: string; now: Date },
): Promise<void> {
  const since = new Date(now.getTime() - countedMs)
  await sql`
    with attacked as (select id from users where email = ${email.toLowerCase()} and erased_at is null),
    counted as (update audit_entries e
      set details = jsonb_set(e.details, '{attempts}', to_jsonb((e.details ->> 'attempts')::int + 1)) from attacked
      where e.target_type = 'person' and e.target_id = attacked.id::text and e.action = 'account.sign_in_failed'
        and e.address = ${address} and e.at > ${since}::timestamptz returning 1),
    places as (select null::uuid as organization_id, false as is_copy
      union all select m.organization_id, true from memberships m join attacked on attacked.id = m.user_id)
    insert into audit_entries (at, organization_id, is_copy, action, outcome, through, address, target_type, target_id,
      details)
    select ${now}::timestamptz, p.organization_id, p.is_copy, 'account.sign_in_failed', 'failed', 'platform',
      ${address}::text, 'person', attacked.id::text, '{"method": "password", "attempts": 1}'::jsonb
    from attacked, places p where not exists (select 1 from counted)`.execute(db)
}
