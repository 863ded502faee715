/** All SQL for model provider keys. */
import type { KeyProvider } from '@dock/contract'
import { sql } from 'kysely'
import { columnsOf } from '../../../database/columns.ts'
import type { Db, Row } from '../../../database/database.ts'
import type { Place, SealedColumn } from '../../../sealing/index.ts'

export type ProviderKeyRow = Row<'provider_keys'>
const columns = columnsOf('provider_keys')

export const providerKeyColumn: SealedColumn = {
  table: 'provider_keys',
  column: 'sealed_key',
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}

/** Returns the place that the key of a row is sealed to. */
export function providerKeyPlace(rowId: string): Place {
  return {
    table: providerKeyColumn.table,
    column: providerKeyColumn.column,
    rowId,
  }
}

/** Returns all provider keys of an organization. */
export function listProviderKeyRows(db: Db, organizationId: string): Promise<ProviderKeyRow[]> {
  return db
    .selectFrom('provider_keys')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .execute()
}

export function findProviderKeyRow(
  db: Db,
  organizationId: string,
  provider: KeyProvider,
): Promise<ProviderKeyRow | undefined> {
  return db
    .selectFrom('provider_keys')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .executeTakeFirst()
}

/** Inserts or replaces a key. A replacement also changes the row's id, because the value is sealed to that id. */
export async function putProviderKey(db: Db, row: ProviderKeyRow): Promise<void> {
  await db
    .insertInto('provider_keys')
    .values(row)
    .onConflict((conflict) =>
      conflict.constraint('provider_keys_provider').doUpdateSet({
        id: sql`excluded.id`,
        sealed_key: sql`excluded.sealed_key`,
        updated_at: sql`excluded.updated_at`,
      }),
    )
    .execute()
}

/** Deletes a key. Returns false if none was set. */
export async function deleteProviderKeyRow(
  db: Db,
  organizationId: string,
  provider: KeyProvider,
): Promise<boolean> {
  const result = await db
    .deleteFrom('provider_keys')
    .where('organization_id', '=', organizationId)
    .where('provider', '=', provider)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}
