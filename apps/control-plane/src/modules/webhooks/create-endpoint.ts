/** POST /v1/webhooks/endpoints. */
import { type CreatedWebhookEndpoint, limits, ServiceError, type WebhookEventType } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { auditNames, recordAudit } from '../audit/index.ts'
import { insertEndpoint, lockAndCountEndpoints, secretPlace } from './endpoint-store.ts'
import { viewEndpoint } from './endpoint-view.ts'
import { targetOf } from './require-endpoint.ts'
import { newSigningSecret } from './sign-delivery.ts'
import type { WebhookContext } from './webhook-context.ts'

/**
 * Adds an endpoint. Only this response and that of a rotation contain the signing secret.
 * Throws `validation_error` for a URL to which nothing may be sent, and `endpoints_exceeded`.
 */
export async function createWebhookEndpoint(
  { db, clock, sealer, web }: Pick<WebhookContext, 'db' | 'clock' | 'sealer' | 'web'>,
  caller: Member,
  body: { name: string; url: string; events: WebhookEventType[] },
): Promise<CreatedWebhookEndpoint> {
  const refusal = await web.findRefusal(body.url)
  if (refusal !== null) throw new ServiceError('validation_error', { message: `url: ${refusal}` })
  const { organizationId } = caller
  const id = newUuid()
  const { secret, prefix } = newSigningSecret()
  const sealedSecret = await sealer.seal(
    { kind: 'organization', id: organizationId },
    secretPlace(id, 'sealed_secret'),
    secret,
  )
  const now = clock.now()
  return withTransaction(db, async (tx) => {
    if ((await lockAndCountEndpoints(tx, organizationId)) >= limits.webhook.endpointsPerOrganizationMax)
      throw new ServiceError('endpoints_exceeded')
    const row = await insertEndpoint(tx, {
      id,
      organizationId,
      name: body.name,
      url: body.url,
      events: [...new Set(body.events)],
      secretPrefix: prefix,
      sealedSecret,
      now,
    })
    await recordAudit(tx, caller, {
      action: 'webhook.created',
      now,
      ...targetOf(row),
      details: { host: new URL(row.url).host, events: auditNames(row.events) },
    })
    return { ...viewEndpoint(row), secret }
  })
}
