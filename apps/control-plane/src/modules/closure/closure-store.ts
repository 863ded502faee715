/** SQL that closes and erases accounts, on a person and their organizations. */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

export type ClosingPerson = { id: string; email: string; closedAt: Date | null }

/** Locks and returns the person, so that only one operation changes the account. Throws `account_closed` (410) if erased. */
export async function lockPerson(tx: Tx, userId: string): Promise<ClosingPerson> {
  const row = await tx
    .selectFrom('users')
    .select(['id', 'email', 'closed_at', 'erased_at'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row || row.erased_at) throw new ServiceError('account_closed', { status: 410 })
  return { id: row.id, email: row.email, closedAt: row.closed_at }
}

export type OwnOrganization = {
  id: string
  /** Number of other members. */
  others: number
  /** True if the person is an owner and no other owner has an open account. */
  soleOwner: boolean
}

/** Locks and returns the person's organizations. The locks prevent changes of their members. */
export async function lockOwnOrganizations(tx: Tx, userId: string): Promise<OwnOrganization[]> {
  await sql`select 1 from organizations o join memberships m on m.organization_id = o.id and m.user_id = ${userId}
    where o.deleted_at is null order by o.id for no key update of o`.execute(tx)
  const { rows } = await sql<OwnOrganization>`
    select m.organization_id as id,
      (select count(*) from memberships e where e.organization_id = m.organization_id and e.user_id <> m.user_id)::int
        as others,
      m.role = 'owner' and not exists (select 1 from memberships e join users u on u.id = e.user_id
        where e.organization_id = m.organization_id and e.user_id <> m.user_id and e.role = 'owner'
          and u.closed_at is null) as "soleOwner"
    from memberships m join organizations o on o.id = m.organization_id and o.deleted_at is null
    where m.user_id = ${userId}`.execute(tx)
  return rows
}

/** Throws `sole_owner_of_shared_org` if other members would be left without an owner. */
export function requireNoSoleOwner(organizations: readonly OwnOrganization[]): void {
  if (organizations.some(({ others, soleOwner }) => others > 0 && soleOwner))
    throw new ServiceError('sole_owner_of_shared_org')
}

/**
 * Returns up to `limit` ids of people whose accounts were closed at `before` or earlier and are not erased. In random order,
 * so that those that cannot be erased now do not keep the others from being erased.
 */
export async function listOverdue(db: Db, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('closed_at', '<=', before)
    .where('erased_at', 'is', null)
    .orderBy(sql`random()`)
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}
