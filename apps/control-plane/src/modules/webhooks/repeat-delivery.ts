/** POST /v1/webhooks/endpoints/:id/test and POST …/:id/deliveries/:deliveryId/redeliver. */
import { ServiceError, webhookTestEvent } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Member } from '../accounts/index.ts'
import { saveDelivery } from './delivery-store.ts'
import type { EndpointRow } from './endpoint-store.ts'
import { requireAttempt, requireEndpoint } from './require-endpoint.ts'
import type { WebhookContext } from './webhook-context.ts'

type Context = Pick<WebhookContext, 'db' | 'clock' | 'rateLimits'>

const requireEnabled = (endpoint: EndpointRow): void => {
  if (endpoint.disabled_at !== null)
    throw new ServiceError('conflict', {
      message: 'The endpoint is disabled, because its receiver responded with 410. Enable it first.',
    })
}

/** Sends a signed `webhook.test` event to the endpoint. Throws `conflict` if the endpoint is disabled. */
export async function testWebhookEndpoint(
  context: Context,
  caller: Member,
  id: string,
): Promise<{ eventId: string }> {
  const endpoint = await requireEndpoint(context, caller, id)
  requireEnabled(endpoint)
  await context.rateLimits.take('webhookDeliveries', endpoint.id)
  const [eventId, now] = [newUuid(), context.clock.now()]
  await saveDelivery(
    context.db,
    {
      endpoint_id: endpoint.id,
      organization_id: endpoint.organization_id,
      event_id: eventId,
      event: webhookTestEvent,
      occurred_at: now,
      dock_id: null,
      dock_state: null,
      workspace_id: null,
    },
    now,
  )
  return { eventId }
}

/**
 * Sends the event of a listed delivery attempt again, with the same event id and body.
 * Throws `conflict` if the endpoint is disabled, and `not_found` if the attempt is unknown or no longer kept.
 */
export async function redeliverWebhook(
  context: Context,
  caller: Member,
  id: string,
  attemptId: string,
): Promise<{ eventId: string }> {
  const endpoint = await requireEndpoint(context, caller, id)
  const { delivery } = await requireAttempt(context, endpoint, attemptId)
  requireEnabled(endpoint)
  await context.rateLimits.take('webhookDeliveries', endpoint.id)
  await saveDelivery(context.db, delivery, context.clock.now())
  return { eventId: delivery.event_id }
}
