/** DELETE /v1/webhooks/endpoints/:id. */
import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { deleteEndpointRow } from './endpoint-store.ts'
import { requireEndpoint, targetOf } from './require-endpoint.ts'
import type { WebhookContext } from './webhook-context.ts'

/** Removes an endpoint. Nothing more is sent to it; its deliveries are deleted later. */
export async function deleteWebhookEndpoint(
  { db, clock }: Pick<WebhookContext, 'db' | 'clock'>,
  caller: Member,
  id: string,
): Promise<{ removed: true }> {
  await withTransaction(db, async (tx) => {
    const row = await requireEndpoint({ db: tx }, caller, id)
    if (!(await deleteEndpointRow(tx, caller.organizationId, id)))
      throw new ServiceError('webhook_endpoint_not_found')
    await recordAudit(tx, caller, { action: 'webhook.deleted', now: clock.now(), ...targetOf(row) })
  })
  return { removed: true }
}
