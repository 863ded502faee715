/**
 * The only SQL for organizations. Whatever depends on several rows of one (seats, owners, workspaces) is decided with
 * the organization's row locked, so that two decisions never pass each other.
 */
import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { OrganizationsTable } from '../../database/tables/accounts.ts'
import { recordErasure } from '../lineage/index.ts'

export type OrganizationRow = Selectable<OrganizationsTable>

/** The organization, held against every other decision about it. Throws `organization_not_found` when deleted. */
export async function lockOrganization(tx: Tx, id: string): Promise<OrganizationRow> {
  const row = await tx
    .selectFrom('organizations')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row) throw new ServiceError('organization_not_found')
  return row
}

/** Saves a new organization, unless its slug is taken. */
export function insertOrganizationRow(
  tx: Tx,
  values: { name: string; slug: string; seats?: number | undefined; madeBy: string },
): Promise<OrganizationRow | undefined> {
  return tx
    .insertInto('organizations')
    .values({
      id: newUuid(),
      name: values.name,
      slug: values.slug,
      made_by: values.madeBy,
      ...(values.seats === undefined ? {} : { seats: values.seats }),
    })
    .onConflict((conflict) => conflict.constraint('organizations_slug').doNothing())
    .returningAll()
    .executeTakeFirst()
}

export function updateOrganizationRow(
  tx: Tx,
  id: string,
  values: { name?: string | undefined; slug?: string | undefined; seats?: number | undefined },
  now: Date,
): Promise<OrganizationRow> {
  return tx
    .updateTable('organizations')
    .set({ ...values, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Seats in use: members, and invitations that can still be accepted. Asked with the organization locked. */
export async function countSeatsTaken(tx: Tx, organizationId: string, now: Date): Promise<number> {
  const result = await sql<{ taken: number }>`select
    (select count(*) from memberships where organization_id = ${organizationId})::int +
    (select count(*) from invitations where organization_id = ${organizationId} and expires_at > ${now})::int
    as taken`.execute(tx)
  return result.rows[0]!.taken
}

/** Throws `seats_exceeded` when the locked organization has no seat left. */
export async function requireSeat(tx: Tx, organization: OrganizationRow, now: Date): Promise<void> {
  if ((await countSeatsTaken(tx, organization.id, now)) >= organization.seats)
    throw new ServiceError('seats_exceeded')
}

/**
 * Takes an organization away from everybody in one transaction: without members no query of a caller finds it, and its
 * slug is free again, for one that nobody can ask for. What it owns is removed afterwards.
 */
export async function markOrganizationDeleted(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable('organizations')
    .set({ deleted_at: now, slug: `deleted.${id}`, updated_at: now })
    .where('id', '=', id)
    .execute()
  await recordErasure(tx, { kind: 'organization', id }, now)
  await tx.deleteFrom('memberships').where('organization_id', '=', id).execute()
  await tx.deleteFrom('invitations').where('organization_id', '=', id).execute()
}

/** Organizations that were deleted and whose things are not all gone, oldest first. */
export async function listDeletedOrganizations(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** The end of a deleted organization's row. Fails while a Dock is left in one of its workspaces. */
export async function deleteOrganizationRow(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('organizations').where('id', '=', id).where('deleted_at', 'is not', null).execute()
}
