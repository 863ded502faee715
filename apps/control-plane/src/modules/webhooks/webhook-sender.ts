/** Sends deliveries. No receiver delays another, and a slow receiver delays only its own organization. */
import { setMaxListeners } from 'node:events'
import { limits } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createDeliveryEngine, type DeliveryEngine } from '../../engine/index.ts'
import type { Sealer } from '../../sealing/index.ts'
import { type ClaimedDelivery, claimDeliveries, type Room, type Rooms } from './claim-deliveries.ts'
import { recordAttempt } from './delivery-store.ts'
import { type EndpointRow, secretPlace } from './endpoint-store.ts'
import { decideOutcome } from './outcome.ts'
import type { PublicWeb, Receipt } from './public-web.ts'
import { deliveryHeaders, signBody, writeBody } from './sign-delivery.ts'

/** Requests in flight at the same time: of the process, of an organization, and to an endpoint that responds with 2xx. */
const inFlightMax = 1_024
const inFlightPerOrganizationMax = 32
const inFlightPerEndpointMax = 8
/** How many endpoints the sender remembers, since endpoints may be removed at any time. */
const rememberedMax = 10_000

const deadlineMs = limits.webhook.receiverSecondsMax * 1_000

/** How long a stop waits for receivers, in milliseconds. Then it breaks off the requests, which are repeated later. */
const stopPatienceMs = 2_000

export function createWebhookSender(options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  web: PublicWeb
}): DeliveryEngine {
  const { db, clock, logger, sealer, web } = options
  /** Endpoints whose limit a minute was reached, and until when. */
  const resting = new Map<string, Date>()
  /** Endpoints whose latest response was 2xx. All others get one request at a time. */
  const healthy = new Set<string>()
  const ofOrganization = new Map<string, number>()
  const stopping = new AbortController()
  // Every request in flight listens to it; Node would warn of a leak from the eleventh on.
  setMaxListeners(inFlightMax, stopping.signal)

  const count = (organizationId: string, change: 1 | -1): void => {
    const left = (ofOrganization.get(organizationId) ?? 0) + change
    if (left > 0) ofOrganization.set(organizationId, left)
    else ofOrganization.delete(organizationId)
  }

  const roomOf = (inFlight: number, max: number): Room => ({ inFlight, left: Math.max(0, max - inFlight) })

  const roomsOf = (inFlight: ReadonlyMap<string, number>): Rooms => ({
    ofEndpoint: (endpointId) =>
      roomOf(inFlight.get(endpointId) ?? 0, healthy.has(endpointId) ? inFlightPerEndpointMax : 1),
    ofOrganization: (organizationId) =>
      roomOf(ofOrganization.get(organizationId) ?? 0, inFlightPerOrganizationMax),
    rest: (endpointId, until) => {
      // A forgotten endpoint costs one more claim, which counts its requests again.
      if (resting.size >= rememberedMax) resting.clear()
      resting.set(endpointId, until)
    },
    isResting: (endpointId, now) => {
      const until = resting.get(endpointId)
      if (until && until > now) return until
      resting.delete(endpointId)
      return null
    },
  })

  const openSecrets = async (endpoint: EndpointRow, now: Date): Promise<string[]> => {
    const owner = { kind: 'organization', id: endpoint.organization_id } as const
    const current = await sealer.open(
      owner,
      secretPlace(endpoint.id, 'sealed_secret'),
      endpoint.sealed_secret,
    )
    const { sealed_previous_secret: previous, previous_secret_until: until } = endpoint
    if (previous === null || until === null || until <= now) return [current]
    return [current, await sealer.open(owner, secretPlace(endpoint.id, 'sealed_previous_secret'), previous)]
  }

  /** Returns what the receiver responded, or why it received nothing or did not respond. */
  const post = async ({ delivery, endpoint }: ClaimedDelivery): Promise<Receipt> => {
    let request: { body: string; signature: string }
    try {
      const body = writeBody(delivery)
      const now = clock.now()
      request = { body, signature: signBody(body, await openSecrets(endpoint, now), now) }
    } catch (error) {
      const { id: deliveryId, endpoint_id: endpointId } = delivery
      logger.error({ err: error, deliveryId, endpointId }, 'could not prepare the delivery of a webhook')
      return {
        status: null,
        error: 'Dock could not prepare the request. The reason is in the log of the control plane.',
      }
    }
    // The process may have been paused. After its lease the delivery may be sent by another process.
    if (clock.now().getTime() + deadlineMs > delivery.next_attempt_at.getTime())
      return { status: null, error: 'Dock prepared the request too late. The receiver did not get it.' }
    try {
      return await web.post({
        url: endpoint.url,
        headers: { ...deliveryHeaders, 'dock-signature': request.signature },
        body: request.body,
        deadlineMs,
        signal: stopping.signal,
      })
    } catch (error) {
      if (!stopping.signal.aborted) throw error
      return { status: null, error: 'Dock was restarted before the receiver responded.' }
    }
  }

  const send = async (claimed: ClaimedDelivery): Promise<void> => {
    const { delivery, endpoint, attemptId } = claimed
    const receipt = await post(claimed)
    const { status } = receipt
    const error =
      status === null ? receipt.error : status >= 200 && status < 300 ? null : `HTTP status ${status}`
    const endedAt = clock.now()
    const outcome = decideOutcome(receipt, delivery.attempts, endedAt)
    if (healthy.size >= rememberedMax) healthy.clear()
    if (outcome.kind === 'sent') healthy.add(endpoint.id)
    else healthy.delete(endpoint.id)
    const answer = receipt.status === null ? null : receipt.answer
    await recordAttempt(db, { id: attemptId, delivery, status, error, answer }, outcome, endedAt)
    if (outcome.kind === 'disable')
      logger.info(
        { endpointId: endpoint.id },
        'a receiver responded with 410; its webhook endpoint is disabled',
      )
  }

  const engine = createDeliveryEngine<ClaimedDelivery>({
    name: 'webhooks',
    clock,
    logger,
    inFlightMax,
    laneOf: ({ endpoint }) => endpoint.id,
    claim: async ({ limit, inFlight }) => {
      const claim = await claimDeliveries(db, roomsOf(inFlight), limit, clock.now())
      for (const { endpoint } of claim.items) count(endpoint.organization_id, 1)
      return claim
    },
    deliver: (item) => send(item).finally(() => count(item.endpoint.organization_id, -1)),
  })

  return {
    ...engine,
    stop: async () => {
      const cancel = clock.after(stopPatienceMs, () => stopping.abort())
      await engine.stop()
      cancel()
    },
  }
}
