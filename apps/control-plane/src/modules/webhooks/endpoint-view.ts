import type { DeliveryAttempt, WebhookEndpoint } from '@dock/contract'
import type { ListedAttemptRow } from './delivery-store.ts'
import type { EndpointRow } from './endpoint-store.ts'

export function viewEndpoint(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    url: row.url,
    events: row.events,
    secretPrefix: row.secret_prefix,
    disabled: row.disabled_at !== null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

export function viewAttempt(row: ListedAttemptRow): DeliveryAttempt {
  return {
    id: row.id,
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    event: row.event,
    status: row.status,
    error: row.error,
    createdAt: row.started_at.toISOString(),
  }
}
