/** GET /api/dashboard/webhooks/:id/deliveries/:deliveryId. */
import type { DeliveryDetails } from '@dock/contract'
import type { Member } from '../accounts/index.ts'
import type { DeliveryRow } from './delivery-store.ts'
import { viewAttempt } from './endpoint-view.ts'
import { requireAttempt, requireEndpoint } from './require-endpoint.ts'
import { deliveryHeaders, writeBody } from './sign-delivery.ts'
import type { WebhookContext } from './webhook-context.ts'

/** Returns null for a delivery whose attempts fail because its body cannot be written. */
const bodyOf = (delivery: DeliveryRow): string | null => {
  try {
    return writeBody(delivery)
  } catch {
    return null
  }
}

/**
 * Returns what a finished request sent and what came back. The URL and the body are the same for all requests of a
 * delivery, so they are not stored with each; the signature is not kept.
 */
export async function readDelivery(
  context: Pick<WebhookContext, 'db'>,
  caller: Member,
  id: string,
  attemptId: string,
): Promise<DeliveryDetails> {
  const endpoint = await requireEndpoint(context, caller, id)
  const { attempt, delivery } = await requireAttempt(context, endpoint, attemptId)
  const { status, answer, started_at: startedAt, finished_at: finishedAt } = attempt
  return {
    attempt: viewAttempt(attempt),
    request: {
      url: endpoint.url,
      headers: Object.entries(deliveryHeaders).map(([name, value]) => ({ name, value })),
      body: bodyOf(delivery),
    },
    answer: {
      status,
      body: answer,
      milliseconds: Math.max(0, (finishedAt ?? startedAt).getTime() - startedAt.getTime()),
    },
  }
}
