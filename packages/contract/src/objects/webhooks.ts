import * as z from 'zod'
import { deliveredEventType, webhookEventType } from '../events.ts'
import { integer, timestamp, uuid } from '../fields.ts'

export const webhookEndpoint = z.strictObject({
  id: uuid,
  organizationId: uuid,
  name: z.string(),
  url: z.string(),
  events: z.array(webhookEventType),
  /** The first 8 characters of the signing secret. */
  secretPrefix: z.string(),
  disabled: z.boolean(),
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type WebhookEndpoint = z.output<typeof webhookEndpoint>

/** Returned only by create: `secret` signs the deliveries. */
export const createdWebhookEndpoint = webhookEndpoint.extend({ secret: z.string() })
export type CreatedWebhookEndpoint = z.output<typeof createdWebhookEndpoint>

export const deliveryAttempt = z.strictObject({
  id: uuid,
  eventId: uuid,
  endpointId: uuid,
  event: deliveredEventType,
  /** The receiver's HTTP status; null when it did not respond. */
  status: integer.nullable(),
  error: z.string().nullable(),
  createdAt: timestamp,
})
export type DeliveryAttempt = z.output<typeof deliveryAttempt>

/** The id of the event that will be delivered. */
export const sentEvent = z.strictObject({ eventId: uuid })
