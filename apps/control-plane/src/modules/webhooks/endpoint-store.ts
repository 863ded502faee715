/** All SQL for webhook endpoints. */
import type { WebhookEventType } from '@dock/contract'
import { sql } from 'kysely'
import { columnList, columnsOf } from '../../database/columns.ts'
import type { Db, Row, Tx } from '../../database/database.ts'
import type { Place, SealedColumn } from '../../sealing/index.ts'

export type EndpointRow = Row<'webhook_endpoints'>
const columns = columnsOf('webhook_endpoints')

type SecretColumn = 'sealed_secret' | 'sealed_previous_secret'

const sealedColumn = (column: SecretColumn): SealedColumn => ({
  table: 'webhook_endpoints',
  column,
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
})

/** The sealed columns of this module, which a rotation of the sealing keys must rewrite. */
export const webhookSealedColumns: readonly SealedColumn[] = [
  sealedColumn('sealed_secret'),
  sealedColumn('sealed_previous_secret'),
]

/** Returns the place that a secret of an endpoint is sealed to. */
export function secretPlace(endpointId: string, column: SecretColumn): Place {
  return { table: 'webhook_endpoints', column, rowId: endpointId }
}

/** Locks the organization's row, so that concurrent requests cannot exceed the limit. Returns the number of endpoints. */
export async function lockAndCountEndpoints(tx: Tx, organizationId: string): Promise<number> {
  await sql`select 1 from organizations where id = ${organizationId} for no key update`.execute(tx)
  const counted = await sql<{ count: number }>`select count(*) as count from webhook_endpoints
    where organization_id = ${organizationId}`.execute(tx)
  return counted.rows[0]!.count
}

export async function insertEndpoint(
  db: Db,
  row: {
    id: string
    organizationId: string
    name: string
    url: string
    events: WebhookEventType[]
    secretPrefix: string
    sealedSecret: string
    now: Date
  },
): Promise<EndpointRow> {
  return db
    .insertInto('webhook_endpoints')
    .values({
      id: row.id,
      organization_id: row.organizationId,
      name: row.name,
      url: row.url,
      events: row.events,
      secret_prefix: row.secretPrefix,
      sealed_secret: row.sealedSecret,
      created_at: row.now,
      updated_at: row.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Returns all endpoints of an organization, newest first. */
export function listEndpointRows(db: Db, organizationId: string): Promise<EndpointRow[]> {
  return db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export function findEndpointRow(
  db: Db,
  organizationId: string,
  id: string,
): Promise<EndpointRow | undefined> {
  return db
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Locks an endpoint until the transaction ends, and returns it. */
export function lockEndpointRow(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<EndpointRow | undefined> {
  return tx
    .selectFrom('webhook_endpoints')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Deletes an endpoint. Returns false if the organization has none with this id. */
export async function deleteEndpointRow(db: Db, organizationId: string, id: string): Promise<boolean> {
  const result = await db
    .deleteFrom('webhook_endpoints')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/**
 * Enables an endpoint again, or changes nothing if it is enabled. Returns the row, undefined if there is none. Cancels
 * deliveries that were saved while the endpoint was being disabled.
 */
export async function enableEndpointRow(
  db: Db,
  organizationId: string,
  id: string,
  now: Date,
): Promise<EndpointRow | undefined> {
  const { rows } = await sql<EndpointRow>`
  with disabled as (select id from webhook_endpoints
    where organization_id = ${organizationId} and id = ${id} and disabled_at is not null),
  cancelled as (update webhook_deliveries set status = 'cancelled'
    where endpoint_id in (select id from disabled) and status = 'pending')
  update webhook_endpoints e set disabled_at = null,
    updated_at = case when e.disabled_at is null then e.updated_at else ${now}::timestamptz end
  where e.organization_id = ${organizationId} and e.id = ${id} returning ${columnList('webhook_endpoints', 'e')}`.execute(
    db,
  )
  return rows[0]
}

/**
 * Replaces the secret if it is still the one in `previous`, which stays valid until `previousUntil`. Returns the new row,
 * or undefined if the endpoint is gone or another request replaced the secret first.
 */
export function replaceSecret(
  db: Db,
  endpoint: EndpointRow,
  change: { sealed: string; prefix: string; previousSealed: string | null; previousUntil: Date; now: Date },
): Promise<EndpointRow | undefined> {
  return db
    .updateTable('webhook_endpoints')
    .set({
      sealed_secret: change.sealed,
      secret_prefix: change.prefix,
      sealed_previous_secret: change.previousSealed,
      previous_secret_until: change.previousUntil,
      updated_at: change.now,
    })
    .where('organization_id', '=', endpoint.organization_id)
    .where('id', '=', endpoint.id)
    .where('secret_prefix', '=', endpoint.secret_prefix)
    .where('updated_at', '=', endpoint.updated_at)
    .returning(columns)
    .executeTakeFirst()
}
