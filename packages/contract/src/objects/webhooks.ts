import * as z from 'zod'
import { deliveredEventType, webhookEventType } from '../events.ts'
import { count, integer, timestamp, uuid } from '../fields.ts'

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

export const deliveryHeader = z.strictObject({ name: z.string(), value: z.string() })

export const deliveryRequest = z.strictObject({
  url: z.string(),
  /** Without the signature, which is not kept. */
  headers: z.array(deliveryHeader),
  /** Null if Dock could not write it. */
  body: z.string().nullable(),
})

export const deliveryAnswer = z.strictObject({
  /** Null if there was no answer. */
  status: integer.nullable(),
  /** At most the first KiB, as UTF-8. Null if there was no answer, or if it was not kept. */
  body: z.string().nullable(),
  /** From the start of the attempt to its end. */
  milliseconds: count,
})

/** Extension, for the dashboard: what an attempt sent and what came back. */
export const deliveryDetails = z.strictObject({
  attempt: deliveryAttempt,
  request: deliveryRequest,
  answer: deliveryAnswer,
})
export type DeliveryDetails = z.output<typeof deliveryDetails>

/** The id of the event that will be delivered. */
export const sentEvent = z.strictObject({ eventId: uuid })
