/** Tables of webhooks (migrations 049 and 084). */
import type { DeliveredEventType, DockState, WebhookEventType } from '@dock/contract'
import type { ColumnType, Generated } from 'kysely'
import type { NullableTimestamp } from './accounts.ts'

export type WebhookEndpointsTable = {
  id: string
  organization_id: string
  name: string
  url: ColumnType<string, string, never>
  events: ColumnType<WebhookEventType[], WebhookEventType[], never>
  secret_prefix: string
  sealed_secret: string
  sealed_previous_secret: string | null
  previous_secret_until: NullableTimestamp
  disabled_at: NullableTimestamp
  created_at: ColumnType<Date, Date, never>
  updated_at: Date
}

export type WebhookDeliveriesTable = {
  id: string
  endpoint_id: string
  organization_id: string
  event_id: string
  event: DeliveredEventType
  occurred_at: ColumnType<Date, Date, never>
  dock_id: string | null
  dock_state: DockState | null
  workspace_id: string | null
  status: Generated<'pending' | 'sent' | 'failed' | 'cancelled'>
  attempts: Generated<number>
  next_attempt_at: Date
  created_at: ColumnType<Date, Date, never>
}

export type WebhookAttemptsTable = {
  id: string
  delivery_id: string
  endpoint_id: string
  event_id: string
  event: DeliveredEventType
  status: number | null
  error: string | null
  answer: string | null
  started_at: ColumnType<Date, Date, never>
  finished_at: NullableTimestamp
}

export type WebhookTables = {
  webhook_endpoints: WebhookEndpointsTable
  webhook_deliveries: WebhookDeliveriesTable
  webhook_attempts: WebhookAttemptsTable
}
