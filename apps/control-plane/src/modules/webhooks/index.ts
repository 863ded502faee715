/** Public interface of the webhooks module: endpoints of organizations, and the delivery of events to them. */

export { webhookSealedColumns } from './endpoint-store.ts'
export { insertDeliveries } from './event-deliveries.ts'
export { createWebhooksModule } from './module.ts'
export { removeDeliveries } from './prune-deliveries.ts'
export { createPublicWeb, isOwnHost, type PublicWeb, type Receipt } from './public-web.ts'
