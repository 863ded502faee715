/** Public interface of the webhooks module: endpoints of organizations, and the delivery of events to them. */

export { createWebhooksModule, type WebhooksModule } from './create-webhooks-module.ts'
export { webhookSealedColumns } from './endpoint-store.ts'
export { insertDeliveries } from './event-deliveries.ts'
export { removeDeliveries } from './prune-deliveries.ts'
export { createPublicWeb, isOwnHost, type PublicWeb, type Receipt } from './public-web.ts'
export { enableWebhookEndpoint, rotateWebhookSecret } from './routes/change-endpoint.ts'
export { createWebhookEndpoint } from './routes/create-endpoint.ts'
export { deleteWebhookEndpoint } from './routes/delete-endpoint.ts'
export { readDelivery } from './routes/read-delivery.ts'
export { listDeliveryAttempts, listWebhookEndpoints, readWebhookEndpoint } from './routes/read-endpoints.ts'
export { redeliverWebhook, testWebhookEndpoint } from './routes/repeat-delivery.ts'
export type { WebhookContext } from './webhook-context.ts'
