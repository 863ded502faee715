/** POST /v1/webhooks/endpoints/:id/enable and POST …/:id/rotate-secret. */
import { type CreatedWebhookEndpoint, limits, ServiceError, type WebhookEndpoint } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { type KeyOwner, type Sealer, Unreadable } from '../../sealing/index.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import {
  type EndpointRow,
  enableEndpointRow,
  lockEndpointRow,
  replaceSecret,
  secretPlace,
} from './endpoint-store.ts'
import { viewEndpoint } from './endpoint-view.ts'
import { requireEndpoint, targetOf } from './require-endpoint.ts'
import { newSigningSecret } from './sign-delivery.ts'
import type { WebhookContext } from './webhook-context.ts'

/** How long the old secret signs beside the new one. */
const previousSecretMs = limits.webhook.previousSecretHours * 3_600_000

/** Enables an endpoint that a 410 disabled. Events from now on are sent to it. Does nothing if it is enabled. */
export async function enableWebhookEndpoint(
  { db, clock, rateLimits }: Pick<WebhookContext, 'db' | 'clock' | 'rateLimits'>,
  caller: Member,
  id: string,
): Promise<WebhookEndpoint> {
  const { id: endpointId } = await requireEndpoint({ db }, caller, id)
  await rateLimits.take('webhookDeliveries', endpointId)
  const now = clock.now()
  return withTransaction(db, async (tx) => {
    const former = await lockEndpointRow(tx, caller.organizationId, endpointId)
    const row = await enableEndpointRow(tx, caller.organizationId, endpointId, now)
    if (!row) throw new ServiceError('webhook_endpoint_not_found')
    if (former?.disabled_at)
      await recordAudit(tx, caller, { action: 'webhook.enabled', now, ...targetOf(row) })
    return viewEndpoint(row)
  })
}

/**
 * Seals the endpoint's current secret as its previous one. Returns null if no key opens it: nothing can be signed with it
 * any more, and a rotation is the way out.
 */
const sealPreviousSecret = async (sealer: Sealer, owner: KeyOwner, endpoint: EndpointRow) => {
  try {
    const secret = await sealer.open(owner, secretPlace(endpoint.id, 'sealed_secret'), endpoint.sealed_secret)
    return await sealer.seal(owner, secretPlace(endpoint.id, 'sealed_previous_secret'), secret)
  } catch (error) {
    if (error instanceof Unreadable) return null
    throw error
  }
}

/**
 * Gives the endpoint a new secret, which only this response contains. Deliveries are then signed with both for some hours.
 * A secret that an earlier rotation replaced ends now. Throws `conflict` if another request rotates at the same time.
 */
export async function rotateWebhookSecret(
  context: Pick<WebhookContext, 'db' | 'clock' | 'sealer' | 'rateLimits'>,
  caller: Member,
  id: string,
): Promise<CreatedWebhookEndpoint> {
  const { db, clock, sealer } = context
  const endpoint = await requireEndpoint(context, caller, id)
  await context.rateLimits.take('webhookDeliveries', endpoint.id)
  const owner = { kind: 'organization', id: endpoint.organization_id } as const
  const { secret, prefix } = newSigningSecret()
  const now = clock.now()
  const change = {
    sealed: await sealer.seal(owner, secretPlace(endpoint.id, 'sealed_secret'), secret),
    prefix,
    previousSealed: await sealPreviousSecret(sealer, owner, endpoint),
    previousUntil: new Date(now.getTime() + previousSecretMs),
    now,
  }
  const row = await withTransaction(db, async (tx) => {
    const replaced = await replaceSecret(tx, endpoint, change)
    if (replaced)
      await recordAudit(tx, caller, { action: 'webhook.secret_rotated', now, ...targetOf(replaced) })
    return replaced
  })
  if (!row)
    throw new ServiceError('conflict', {
      message: 'Another request changed the endpoint at the same time. Read it, then rotate again if needed.',
    })
  return { ...viewEndpoint(row), secret }
}
