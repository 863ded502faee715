/** The headers, the body and the signature of a delivery. */
import { createHmac, randomBytes } from 'node:crypto'
import { webhookDelivery, webhookTestDelivery, webhookTestEvent } from '@dock/contract'
import type { DeliveryRow } from './delivery-store.ts'

const prefixLength = 8

/** The headers of every delivery, except its signature. */
export const deliveryHeaders = {
  'content-type': 'application/json',
  'user-agent': 'Dock-Webhooks/1',
} as const

/** Returns a new signing secret, 256 random bits, and the part of it that is shown later. */
export function newSigningSecret(): { secret: string; prefix: string } {
  const secret = `whsec_${randomBytes(32).toString('base64url')}`
  return { secret, prefix: secret.slice(0, prefixLength) }
}

/** Returns the JSON body. It is the same for all attempts. A test event has no Dock and no workspace. */
export function writeBody(delivery: DeliveryRow): string {
  const head = {
    id: delivery.event_id,
    type: delivery.event,
    occurredAt: delivery.occurred_at.toISOString(),
  }
  const organizationId = delivery.organization_id
  if (delivery.event === webhookTestEvent)
    return JSON.stringify(webhookTestDelivery.parse({ ...head, organizationId }))
  return JSON.stringify(
    webhookDelivery.parse({
      ...head,
      dock: { id: delivery.dock_id, state: delivery.dock_state },
      organizationId,
      workspaceId: delivery.workspace_id,
    }),
  )
}

/**
 * Returns the value of the header `dock-signature`: `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret, the
 * current secret first. `v1` is the HMAC-SHA256 of `<t>.<body>`, keyed with the whole secret as text.
 */
export function signBody(body: string, secrets: readonly string[], now: Date): string {
  const seconds = Math.floor(now.getTime() / 1_000)
  const macs = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'),
  )
  return [`t=${seconds}`, ...macs.map((mac) => `v1=${mac}`)].join(',')
}
