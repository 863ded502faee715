/** Events that the service sends: webhooks to receivers, alerts to inboxes. */
import * as z from 'zod'
import { timestamp, uuid } from './fields.ts'
import { dockState } from './objects/docks.ts'

export const webhookEventTypes = ['dock.ready', 'dock.error', 'dock.archived', 'dock.hydrated'] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]
export const webhookEventType = z.enum(webhookEventTypes)

/** Sent on request only. Endpoints cannot subscribe to it. An extension of the specification. */
export const webhookTestEvent = 'webhook.test'
export const deliveredEventType = z.enum([...webhookEventTypes, webhookTestEvent])
export type DeliveredEventType = z.output<typeof deliveredEventType>

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

/** The Dock of a webhook delivery. */
export const webhookDock = z.strictObject({ id: uuid, state: dockState })

/** The JSON body of a webhook delivery. */
export const webhookDelivery = z.strictObject({
  id: uuid,
  type: webhookEventType,
  occurredAt: timestamp,
  dock: webhookDock,
  organizationId: uuid,
  workspaceId: uuid,
})
export type WebhookDelivery = z.output<typeof webhookDelivery>

/** The JSON body of a test. It tells of no Dock. */
export const webhookTestDelivery = z.strictObject({
  id: uuid,
  type: z.literal(webhookTestEvent),
  occurredAt: timestamp,
  organizationId: uuid,
})
export type WebhookTestDelivery = z.output<typeof webhookTestDelivery>

/** Its value is `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`. */
export const webhookSignatureHeader = 'dock-signature'
