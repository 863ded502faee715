/** Events that the service sends: webhooks to receivers, alerts to inboxes. */
import * as z from 'zod'
import { dockStates } from './dock-state.ts'
import { timestamp, uuid } from './fields.ts'

export const webhookEventTypes = ['dock.ready', 'dock.error', 'dock.archived', 'dock.hydrated'] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]
export const webhookEventType = z.enum(webhookEventTypes)

export const alertTypes = [
  'stopped_responding',
  'stop_refused',
  'disk_warning',
  'disk_full',
  'auto_recovered',
  'held_after_loss',
] as const
export type AlertType = (typeof alertTypes)[number]
export const alertType = z.enum(alertTypes)

/** The JSON body of a webhook delivery. */
export const webhookDelivery = z.strictObject({
  id: uuid,
  type: webhookEventType,
  occurredAt: timestamp,
  dock: z.strictObject({ id: uuid, state: z.enum(dockStates) }),
  organizationId: uuid,
  workspaceId: uuid,
})
export type WebhookDelivery = z.output<typeof webhookDelivery>

/** Its value is `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`. */
export const webhookSignatureHeader = 'dock-signature'
