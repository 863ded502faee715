/** Routes of webhook endpoints. */
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  enableWebhookEndpoint,
  listDeliveryAttempts,
  listWebhookEndpoints,
  readDelivery,
  readWebhookEndpoint,
  redeliverWebhook,
  rotateWebhookSecret,
  testWebhookEndpoint,
  type WebhookContext,
} from '../../modules/webhooks/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function webhookHandlers(context: WebhookContext): Handlers {
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
