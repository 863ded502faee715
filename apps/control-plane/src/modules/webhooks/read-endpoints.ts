/** GET /v1/webhooks/endpoints, GET /v1/webhooks/endpoints/:id, GET …/:id/deliveries. */
import type { DeliveryAttempt, WebhookEndpoint } from '@dock/contract'
import type { Member } from '../accounts/index.ts'
import { listAttemptRows } from './delivery-store.ts'
import { listEndpointRows } from './endpoint-store.ts'
import { viewAttempt, viewEndpoint } from './endpoint-view.ts'
import { requireEndpoint } from './require-endpoint.ts'
import type { WebhookContext } from './webhook-context.ts'

type Context = Pick<WebhookContext, 'db'>

export async function listWebhookEndpoints({ db }: Context, caller: Member): Promise<WebhookEndpoint[]> {
  return (await listEndpointRows(db, caller.organizationId)).map(viewEndpoint)
}

export async function readWebhookEndpoint(
  context: Context,
  caller: Member,
  id: string,
): Promise<WebhookEndpoint> {
  return viewEndpoint(await requireEndpoint(context, caller, id))
}

/** Returns the latest 100 requests to an endpoint, newest first. A request that is under way is not listed yet. */
export async function listDeliveryAttempts(
  context: Context,
  caller: Member,
  id: string,
): Promise<DeliveryAttempt[]> {
  const endpoint = await requireEndpoint(context, caller, id)
  return (await listAttemptRows(context.db, endpoint.id)).map(viewAttempt)
}
