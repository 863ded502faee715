/** Routes of webhook endpoints. */
import type { Handlers } from '../../routing/handler.ts'
import { enableWebhookEndpoint, rotateWebhookSecret } from './change-endpoint.ts'
import { createWebhookEndpoint } from './create-endpoint.ts'
import { deleteWebhookEndpoint } from './delete-endpoint.ts'
import { readDelivery } from './read-delivery.ts'
import { listDeliveryAttempts, listWebhookEndpoints, readWebhookEndpoint } from './read-endpoints.ts'
import { redeliverWebhook, testWebhookEndpoint } from './repeat-delivery.ts'
import type { WebhookContext } from './webhook-context.ts'

export function webhookRoutes(context: WebhookContext): Handlers {
  return {
    createWebhookEndpoint: ({ caller, body }) => createWebhookEndpoint(context, caller, body),
    listWebhookEndpoints: ({ caller }) => listWebhookEndpoints(context, caller),
    readWebhookEndpoint: ({ caller, params }) => readWebhookEndpoint(context, caller, params.id),
    deleteWebhookEndpoint: ({ caller, params }) => deleteWebhookEndpoint(context, caller, params.id),
    listDeliveryAttempts: ({ caller, params }) => listDeliveryAttempts(context, caller, params.id),
    readDelivery: ({ caller, params }) => readDelivery(context, caller, params.id, params.deliveryId),
    testWebhookEndpoint: ({ caller, params }) => testWebhookEndpoint(context, caller, params.id),
    redeliverWebhook: ({ caller, params }) => redeliverWebhook(context, caller, params.id, params.deliveryId),
    enableWebhookEndpoint: ({ caller, params }) => enableWebhookEndpoint(context, caller, params.id),
    rotateWebhookSecret: ({ caller, params }) => rotateWebhookSecret(context, caller, params.id),
  }
}
