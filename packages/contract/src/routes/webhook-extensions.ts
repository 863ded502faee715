/** Extensions, not part of the specification: test, repeat, enable and rotate, as receivers of webhooks expect. */
import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { createdWebhookEndpoint, sentEvent, webhookEndpoint } from '../objects/webhooks.ts'
import { route } from '../route.ts'

const { previousSecretHours } = limits.webhook

const endpointParams = z.object({ id: field.uuid })

const access = {
  credentials: 'session',
  scope: { organization: 'query.organizationId' },
  role: 'admin',
  outsider: 'webhook_endpoint_not_found',
} as const

const errors = [
  'validation_error',
  'session_required',
  'webhook_endpoint_not_found',
  'forbidden',
  'rate_limited',
] as const

export const webhookExtensionRoutes = {
  testWebhookEndpoint: route({
    method: 'POST',
    path: '/v1/webhooks/endpoints/:id/test',
    summary: 'Send a signed `webhook.test` event; its body has id, type, occurredAt, organizationId',
    description: 'Use it to check that your receiver works and verifies the signature.',
    extension: true,
    tag: 'Webhooks',
    access,
    status: 202,
    params: endpointParams,
    query: field.organizationQuery,
    response: sentEvent,
    errors: [...errors, 'conflict'],
    notFound: 'webhook_endpoint_not_found',
  }),
  redeliverWebhook: route({
    method: 'POST',
    path: '/v1/webhooks/endpoints/:id/deliveries/:deliveryId/redeliver',
    summary: 'Send the event of a delivery attempt again, with the same event id',
    description: 'Receivers should ignore an event id that they already know.',
    extension: true,
    tag: 'Webhooks',
    access,
    status: 202,
    params: z.object({ id: field.uuid, deliveryId: field.uuid }),
    query: field.organizationQuery,
    response: sentEvent,
    errors: [...errors, 'not_found', 'conflict'],
    paramNotFound: { id: 'webhook_endpoint_not_found', deliveryId: 'not_found' },
  }),
  enableWebhookEndpoint: route({
    method: 'POST',
    path: '/v1/webhooks/endpoints/:id/enable',
    summary: 'Enable an endpoint that was disabled by a 410; it receives events from now on',
    description: 'Events that happened while it was disabled are not sent.',
    extension: true,
    tag: 'Webhooks',
    access,
    params: endpointParams,
    query: field.organizationQuery,
    response: webhookEndpoint,
    errors,
    notFound: 'webhook_endpoint_not_found',
  }),
  rotateWebhookSecret: route({
    method: 'POST',
    path: '/v1/webhooks/endpoints/:id/rotate-secret',
    summary: `Replace the signing secret; for ${previousSecretHours} hours deliveries carry signatures of both`,
    description: `The new secret is shown once. Change your receiver within ${previousSecretHours} hours.`,
    extension: true,
    tag: 'Webhooks',
    access,
    params: endpointParams,
    query: field.organizationQuery,
    response: createdWebhookEndpoint,
    errors: [...errors, 'conflict'],
    notFound: 'webhook_endpoint_not_found',
    noStore: true,
  }),
} as const
