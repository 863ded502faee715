/** All SQL for memberships. */
import type { Membership, NamedMember, Role } from '@dock/contract'
import { sql } from 'kysely'
import { columnsOf } from '../../database/columns.ts'
import type { Db, Row, Tx } from '../../database/database.ts'
import { recordAudit } from '../audit/index.ts'

export type MembershipRow = Row<'memberships'>
const columns = columnsOf('memberships')

/** Returns an organization's members with their names, oldest membership first. */
export async function listMemberEntries(db: Db, organizationId: string): Promise<NamedMember[]> {
  const rows = await db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .where('organization_id', '=', organizationId)
    .select(columns)
    .select(['users.email', 'users.name'])
    .orderBy('memberships.created_at')
    .orderBy('user_id')
    .execute()
  return rows.map((row) => ({
    userId: row.user_id,
    email: row.email,
    name: row.name,
    role: row.role,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }))
}

/** Returns the API view of a membership. */
export function membershipView(row: MembershipRow): Membership {
  return {
    organizationId: row.organization_id,
    userId: row.user_id,
    role: row.role,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export function findMemberRow(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<MembershipRow | undefined> {
  return tx
    .selectFrom('memberships')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Returns true if the address belongs to a member. */
export async function isMemberAddress(tx: Tx, organizationId: string, email: string): Promise<boolean> {
  const row = await tx
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('users.email', '=', email)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the address of a person with an open account who shares an organization with the user. */
export async function findColleagueAddress(
  tx: Tx,
  userId: string,
  colleagueId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('users')
    .select('users.email')
    .where('users.id', '=', colleagueId)
    .where('users.closed_at', 'is', null)
    .where('users.erased_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('memberships as theirs')
          .innerJoin('memberships as own', 'own.organization_id', 'theirs.organization_id')
          .select('theirs.user_id')
          .where('theirs.user_id', '=', colleagueId)
          .where('own.user_id', '=', userId),
      ),
    )
    .executeTakeFirst()
  return row?.email.toLowerCase()
}

/** Returns true if another owner with an open account exists. The caller holds the lock on the organization. */
export async function hasOtherOwner(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select('user_id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('user_id', '!=', userId)
    .where('users.closed_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Adds a member and returns their role. A user who is already a member keeps their role, and is not new. */
export async function insertMember(
  tx: Tx,
  member: { organizationId: string; userId: string; role: Role; now: Date },
): Promise<{ role: Role; isNew: boolean }> {
  const { numInsertedOrUpdatedRows: inserted } = await tx
    .insertInto('memberships')
    .values({
      organization_id: member.organizationId,
      user_id: member.userId,
      role: member.role,
      created_at: member.now,
      updated_at: member.now,
    })
    .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
    .executeTakeFirst()
  const row = await findMemberRow(tx, member.organizationId, member.userId)
  return { role: row?.role ?? member.role, isNew: inserted === 1n }
}

export function updateMemberRole(
  tx: Tx,
  organizationId: string,
  userId: string,
  values: { role: Role; now: Date },
): Promise<MembershipRow> {
  return tx
    .updateTable('memberships')
    .set({ role: values.role, updated_at: values.now })
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function deleteMember(tx: Tx, organizationId: string, userId: string): Promise<void> {
  await tx
    .deleteFrom('memberships')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute()
}

/** Makes another member an owner: first by open account, then by role, then by oldest membership. */
export async function promoteNextOwner(
  tx: Tx,
  organizationId: string,
  userId: string,
  now: Date,
): Promise<void> {
  const { rows } = await sql<{ id: string; role: Role }>`
    with next as (select m.user_id, m.role from memberships m join users u on u.id = m.user_id
      where m.organization_id = ${organizationId} and m.user_id <> ${userId}
      order by u.closed_at is not null, case m.role when 'owner' then 0 when 'admin' then 1 else 2 end,
        m.created_at, m.user_id limit 1)
    update memberships m set role = 'owner', updated_at = ${now} from next
    where m.organization_id = ${organizationId} and m.user_id = next.user_id
    returning next.user_id as id, next.role`.execute(tx)
  for (const { id, role } of rows)
    await recordAudit(
      tx,
      { kind: 'platform' },
      {
        action: 'member.role_changed',
        now,
        organizationId,
        target: { type: 'person', id },
        details: { from: role, to: 'owner' },
      },
    )
}
