/** Instance admins vouch for addresses, for people whom no mail of this instance reaches. */
import { ServiceError, type UnverifiedPeople, type VouchedAddress } from '@dock/contract'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../database/database.ts'
import { recordAudit } from '../audit/index.ts'
import type { Caller } from './caller.ts'
import type { AccountContext } from './profile.ts'

const listedMax = 200

type WaitingRow = {
  id: string
  name: string
  email: string
  created_at: Date
  organization_name: string | null
  invited_by: string | null
}

/** Returns the people with an open account whose address is not verified, newest first. */
export async function listUnverifiedPeople(db: Db): Promise<UnverifiedPeople> {
  const { rows } = await sql<WaitingRow>`
    select u.id, u.name, u.email, u.created_at, i.organization_name, i.invited_by
    from users u left join lateral (
      select o.name as organization_name, p.name as invited_by from invitations i
        join organizations o on o.id = i.organization_id and o.deleted_at is null
        left join users p on p.id = i.invited_by
      where i.email = lower(u.email) and i.signed_up_at is not null
      order by i.signed_up_at desc limit 1) i on true
    where not u.email_verified and u.closed_at is null and u.erased_at is null
    order by u.created_at desc, u.id limit ${listedMax + 1}`.execute(db)
  return {
    people: rows.slice(0, listedMax).map(({ id, name, email, ...row }) => ({
      id,
      name,
      email,
      createdAt: row.created_at.toISOString(),
      invitation:
        row.organization_name === null
          ? null
          : { organizationName: row.organization_name, invitedBy: row.invited_by },
    })),
    hasMore: rows.length > listedMax,
  }
}

/** Marks a person's address as verified and records who vouched for it. Throws `user_not_found`. */
export function vouchForAddress(
  { db, clock }: AccountContext,
  caller: Caller,
  userId: string,
): Promise<VouchedAddress> {
  return withTransaction(db, async (tx) => {
    const now = clock.now()
    const person = await tx
      .updateTable('users')
      .set({ email_verified: true, updated_at: now })
      .where('id', '=', userId)
      .where('email_verified', '=', false)
      .where('closed_at', 'is', null)
      .where('erased_at', 'is', null)
      .returning('email')
      .executeTakeFirst()
    if (!person)
      throw new ServiceError('user_not_found', {
        message: 'Nobody with this id waits for their address to be verified. Read the list again.',
      })
    const vouched = { user_id: userId, email: person.email, vouched_by: caller.userId, vouched_at: now }
    await tx
      .insertInto('vouched_addresses')
      .values(vouched)
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(vouched))
      .execute()
    const target = { type: 'person', id: userId }
    await recordAudit(tx, caller, { action: 'account.vouched_for', now, organizationId: null, target })
    return { userId, email: person.email, vouchedBy: caller.userId, vouchedAt: now.toISOString() }
  })
}
