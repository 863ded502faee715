/** All SQL for workspaces. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { columnsOf } from '../../database/columns.ts'
import type { Db, Row, Tx } from '../../database/database.ts'

export type WorkspaceRow = Row<'workspaces'>
const columns = columnsOf('workspaces')

/** Returns the workspaces of an organization, oldest first. */
export function listWorkspaceRows(db: Db, organizationId: string): Promise<WorkspaceRow[]> {
  return db
    .selectFrom('workspaces')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export function findWorkspaceRow(
  db: Db,
  organizationId: string,
  id: string,
): Promise<WorkspaceRow | undefined> {
  return db
    .selectFrom('workspaces')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function lockWorkspaceRow(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<WorkspaceRow | undefined> {
  return tx
    .selectFrom('workspaces')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Inserts a workspace. Returns undefined if its slug is taken in the organization. */
export function insertWorkspaceRow(
  tx: Tx,
  values: { organizationId: string; name: string; slug: string; now: Date },
): Promise<WorkspaceRow | undefined> {
  return tx
    .insertInto('workspaces')
    .values({
      id: newUuid(),
      organization_id: values.organizationId,
      name: values.name,
      slug: values.slug,
      created_at: values.now,
      updated_at: values.now,
    })
    .onConflict((conflict) => conflict.constraint('workspaces_slug').doNothing())
    .returning(columns)
    .executeTakeFirst()
}

/** Changes a workspace that the caller has locked. */
export function updateWorkspaceRow(
  tx: Tx,
  organizationId: string,
  id: string,
  values: { name?: string | undefined; slug?: string | undefined; now: Date },
): Promise<WorkspaceRow> {
  const { now, ...changes } = values
  return tx
    .updateTable('workspaces')
    .set({ ...changes, updated_at: now })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Returns true if the workspace contains Docks in any state. */
export async function hasDocks(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  const result = await sql<{ held: boolean }>`select exists (
    select 1 from docks where workspace_id = ${id} and organization_id = ${organizationId}) as held`.execute(
    tx,
  )
  return result.rows[0]!.held
}

export async function deleteWorkspaceRow(tx: Tx, organizationId: string, id: string): Promise<void> {
  await tx
    .deleteFrom('workspaces')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}
