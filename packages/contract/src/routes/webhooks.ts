import * as z from 'zod'
import { webhookEventType } from '../events.ts'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { createdWebhookEndpoint, deliveryAttempt, webhookEndpoint } from '../objects/webhooks.ts'
import { route } from '../route.ts'

const endpointParams = z.object({ id: field.uuid })

export const webhookRoutes = {
  createWebhookEndpoint: route({
    method: 'POST',
    path: '/v1/webhooks/endpoints',
    summary: 'Add a webhook endpoint; its signing secret is shown once',
    description: 'Store the secret when you get it: your receiver checks the signatures with it.',
    tag: 'Webhooks',
    access: { credentials: 'session', scope: { organization: 'body.organizationId' }, role: 'admin' },
    status: 201,
    body: z.strictObject({
      organizationId: field.uuid,
      name: field.displayableName,
      // The server checks https, port 443 and the address, because an operator may allow loopback receivers.
      url: z
        .url({ protocol: /^https?$/ })
        .max(limits.webhook.urlLengthMax)
        .meta({ description: 'https on port 443; must not resolve to a private address.' }),
      events: z.array(webhookEventType).min(1),
    }),
    response: createdWebhookEndpoint,
    errors: [
      'validation_error',
      'session_required',
      'organization_not_found',
      'endpoints_exceeded',
      'forbidden',
    ],
    noStore: true,
  }),
  listWebhookEndpoints: route({
    method: 'GET',
    path: '/v1/webhooks/endpoints',
    summary: 'List the webhook endpoints of an organization, newest first',
    description: 'Shows only the first characters of each signing secret.',
    tag: 'Webhooks',
    access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'member' },
    query: field.organizationQuery,
    response: z.array(webhookEndpoint),
    errors: ['validation_error', 'organization_not_found'],
  }),
  readWebhookEndpoint: route({
    method: 'GET',
    path: '/v1/webhooks/endpoints/:id',
    summary: 'Read a webhook endpoint',
    description: '`disabled` is true after the receiver responded with 410.',
    tag: 'Webhooks',
    access: {
      credentials: 'caller',
      scope: { organization: 'query.organizationId' },
      role: 'member',
      outsider: 'webhook_endpoint_not_found',
    },
    params: endpointParams,
    query: field.organizationQuery,
    response: webhookEndpoint,
    errors: ['validation_error', 'webhook_endpoint_not_found'],
    notFound: 'webhook_endpoint_not_found',
  }),
  deleteWebhookEndpoint: route({
    method: 'DELETE',
    path: '/v1/webhooks/endpoints/:id',
    summary: 'Remove a webhook endpoint',
    description: 'It receives nothing more.',
    tag: 'Webhooks',
    access: {
      credentials: 'session',
      scope: { organization: 'query.organizationId' },
      role: 'admin',
      outsider: 'webhook_endpoint_not_found',
    },
    params: endpointParams,
    query: field.organizationQuery,
    response: field.removed,
    errors: ['validation_error', 'session_required', 'webhook_endpoint_not_found', 'forbidden'],
    notFound: 'webhook_endpoint_not_found',
  }),
  listDeliveryAttempts: route({
    method: 'GET',
    path: '/v1/webhooks/endpoints/:id/deliveries',
    summary: 'List the latest 100 delivery attempts of an endpoint, newest first',
    description: 'A delivery that failed is tried again, and each attempt is an entry.',
    tag: 'Webhooks',
    access: {
      credentials: 'caller',
      scope: { organization: 'query.organizationId' },
      role: 'member',
      outsider: 'webhook_endpoint_not_found',
    },
    params: endpointParams,
    query: field.organizationQuery,
    response: z.array(deliveryAttempt),
    errors: ['validation_error', 'webhook_endpoint_not_found'],
    notFound: 'webhook_endpoint_not_found',
  }),
} as const
