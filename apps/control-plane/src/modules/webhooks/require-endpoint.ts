import { ServiceError } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { type EndpointRow, findEndpointRow } from './endpoint-store.ts'

/** Returns an endpoint of the caller's organization. Throws `webhook_endpoint_not_found`. */
export async function requireEndpoint({ db }: { db: Db }, caller: Member, id: string): Promise<EndpointRow> {
  const row = await findEndpointRow(db, caller.organizationId, id)
  if (!row) throw new ServiceError('webhook_endpoint_not_found')
  return row
}
