/** Examples of webhook endpoints and of deliveries to them. */
import { ids, stamps, times } from './example-values.ts'

const endpoint = {
  id: ids.endpoint,
  organizationId: ids.organization,
  name: 'Deployments',
  url: 'https://hooks.acme.example/dock',
  events: ['dock.ready', 'dock.error'],
  secretPrefix: 'whsec_9d',
  disabled: false,
  ...stamps,
}
const attempt = {
  id: ids.attempt,
  eventId: ids.event,
  endpointId: ids.endpoint,
  event: 'dock.ready',
  status: 204,
  error: null,
  createdAt: times.changedAt,
}
const webhookDock = { id: ids.dock, state: 'ready' }
const delivery = {
  id: ids.event,
  type: 'dock.ready',
  occurredAt: times.changedAt,
  dock: webhookDock,
  organizationId: ids.organization,
  workspaceId: ids.workspace,
}
const header = { name: 'content-type', value: 'application/json' }
const request = { url: endpoint.url, headers: [header], body: JSON.stringify(delivery) }
const answer = { status: 204, body: '', milliseconds: 87 }

export const exampleWebhookObjects: Readonly<Record<string, object>> = {
  CreatedWebhookEndpoint: { ...endpoint, secret: 'whsec_9d…' },
  DeliveryAnswer: answer,
  DeliveryAttempt: attempt,
  DeliveryDetails: { attempt, request, answer },
  DeliveryHeader: header,
  DeliveryRequest: request,
  WebhookDelivery: delivery,
  WebhookDock: webhookDock,
  WebhookEndpoint: endpoint,
  WebhookTestDelivery: {
    id: ids.event,
    type: 'webhook.test',
    occurredAt: times.changedAt,
    organizationId: ids.organization,
  },
}
