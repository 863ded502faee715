/**
 * All SQL for organizations. A check across several rows of an organization (seats, owners, workspaces) locks the
 * organization's row first, so that concurrent checks run one after the other.
 */
import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { columnsOf } from '../../database/columns.ts'
import type { Db, Row, Tx } from '../../database/database.ts'
import { type Actor, recordAudit } from '../audit/index.ts'
import { recordErasure } from '../lineage/index.ts'

export type OrganizationRow = Row<'organizations'>
const columns = columnsOf('organizations')

/** Locks and returns the organization. Throws `organization_not_found` if it does not exist or is deleted. */
export async function lockOrganization(tx: Tx, id: string): Promise<OrganizationRow> {
  const row = await tx
    .selectFrom('organizations')
    .select(columns)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!row) throw new ServiceError('organization_not_found')
  return row
}

/** Inserts an organization. Returns undefined if the slug is taken. */
export function insertOrganizationRow(
  tx: Tx,
  values: { name: string; slug: string; seats?: number | undefined; createdBy: string },
): Promise<OrganizationRow | undefined> {
  return tx
    .insertInto('organizations')
    .values({
      id: newUuid(),
      name: values.name,
      slug: values.slug,
      made_by: values.createdBy,
      ...(values.seats === undefined ? {} : { seats: values.seats }),
    })
    .onConflict((conflict) => conflict.constraint('organizations_slug').doNothing())
    .returning(columns)
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
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Turns zero data retention on or off. If it is on already, it stays on since then. */
export async function setRetention(tx: Tx, id: string, enabled: boolean, now: Date): Promise<void> {
  await tx
    .updateTable('organizations')
    .set((set) => ({
      retention_enabled: enabled,
      retention_since: enabled ? set.fn.coalesce('retention_since', set.val(now)) : null,
      updated_at: now,
    }))
    .where('id', '=', id)
    .execute()
}

/** Returns the number of members and unexpired invitations. The caller holds the lock on the organization. */
export async function countSeatsTaken(tx: Tx, organizationId: string, now: Date): Promise<number> {
  const result = await sql<{ taken: number }>`select
    (select count(*) from memberships where organization_id = ${organizationId})::int +
    (select count(*) from invitations where organization_id = ${organizationId} and expires_at > ${now})::int
    as taken`.execute(tx)
  return result.rows[0]!.taken
}

/** Throws `seats_exceeded` if no seat is left. The caller holds the lock on the organization. */
export async function requireSeat(tx: Tx, organization: OrganizationRow, now: Date): Promise<void> {
  if ((await countSeatsTaken(tx, organization.id, now)) >= organization.seats)
    throw new ServiceError('seats_exceeded')
}

/**
 * Marks an organization as deleted. Its members and invitations are deleted at once, so no caller finds it any more.
 * Its slug becomes available, because the row gets a slug that callers cannot request. The organization's resources are
 * removed in the background afterwards.
 */
export async function markOrganizationDeleted(tx: Tx, by: Actor, id: string, now: Date): Promise<void> {
  const { name } = await tx
    .updateTable('organizations')
    .set({ deleted_at: now, slug: `deleted.${id}`, updated_at: now })
    .where('id', '=', id)
    .returning('name')
    .executeTakeFirstOrThrow()
  const target = { type: 'organization', id, name }
  await recordAudit(tx, by, { action: 'organization.deleted', now, organizationId: id, target })
  await recordErasure(tx, { kind: 'organization', id }, now)
  await tx.deleteFrom('memberships').where('organization_id', '=', id).execute()
  await tx.deleteFrom('invitations').where('organization_id', '=', id).execute()
}

/**
 * Returns the ids of deleted organizations whose removal is not finished. In random order, so that those that cannot be
 * removed now do not keep the others from being removed.
 */
export async function listDeletedOrganizations(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('organizations')
    .select('id')
    .where('deleted_at', 'is not', null)
    .orderBy(sql`random()`)
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** Deletes the row of a deleted organization. Fails with a foreign key violation while it has Docks. */
export async function deleteOrganizationRow(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('organizations').where('id', '=', id).where('deleted_at', 'is not', null).execute()
}
