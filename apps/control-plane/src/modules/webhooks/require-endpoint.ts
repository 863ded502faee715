import { ServiceError } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { type AttemptRow, type DeliveryRow, findAttempt } from './delivery-store.ts'
import { type EndpointRow, findEndpointRow } from './endpoint-store.ts'

/** Returns how an entry of the audit log names the endpoint: never by its URL, whose path may be a secret. */
export function targetOf({ id, name, organization_id: organizationId }: EndpointRow) {
  return { organizationId, target: { type: 'webhook', id, name } }
}

/** Returns an endpoint of the caller's organization. Throws `webhook_endpoint_not_found`. */
export async function requireEndpoint({ db }: { db: Db }, caller: Member, id: string): Promise<EndpointRow> {
  const row = await findEndpointRow(db, caller.organizationId, id)
  if (!row) throw new ServiceError('webhook_endpoint_not_found')
  return row
}

/** Returns a finished request to the endpoint with its delivery. Throws `not_found` if it is unknown or no longer kept. */
export async function requireAttempt(
  { db }: { db: Db },
  endpoint: EndpointRow,
  attemptId: string,
): Promise<{ attempt: AttemptRow; delivery: DeliveryRow }> {
  const found = await findAttempt(db, endpoint.id, attemptId)
  if (!found)
    throw new ServiceError('not_found', {
      message: "There is no such delivery. Use an id from the list of the endpoint's deliveries.",
    })
  return found
}
