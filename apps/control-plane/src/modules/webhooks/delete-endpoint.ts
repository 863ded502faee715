/** DELETE /v1/webhooks/endpoints/:id. */
import { ServiceError } from '@dock/contract'
import type { Member } from '../accounts/index.ts'
import { deleteEndpointRow } from './endpoint-store.ts'
import type { WebhookContext } from './webhook-context.ts'

/** Removes an endpoint. Nothing more is sent to it; its deliveries are deleted later. */
export async function deleteWebhookEndpoint(
  { db }: Pick<WebhookContext, 'db'>,
  caller: Member,
  id: string,
): Promise<{ removed: true }> {
  if (!(await deleteEndpointRow(db, caller.organizationId, id)))
    throw new ServiceError('webhook_endpoint_not_found')
  return { removed: true }
}
