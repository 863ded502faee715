/** Public interface of the webhooks module: endpoints of organizations, and the delivery of events to them. */

export { enableWebhookEndpoint, rotateWebhookSecret } from './change-endpoint.ts'
export { createWebhookEndpoint } from './create-endpoint.ts'
export { deleteWebhookEndpoint } from './delete-endpoint.ts'
export { webhookSealedColumns } from './endpoint-store.ts'
export { insertDeliveries } from './event-deliveries.ts'
export { createWebhooksModule, type WebhooksModule } from './module.ts'
export { removeDeliveries } from './prune-deliveries.ts'
export { createPublicWeb, isOwnHost, type PublicWeb, type Receipt } from './public-web.ts'
export { readDelivery } from './read-delivery.ts'
export { listDeliveryAttempts, listWebhookEndpoints, readWebhookEndpoint } from './read-endpoints.ts'
export { redeliverWebhook, testWebhookEndpoint } from './repeat-delivery.ts'
export type { WebhookContext } from './webhook-context.ts'
