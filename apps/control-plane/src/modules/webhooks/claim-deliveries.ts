/**
 * Claims due deliveries. Each claim locks the endpoints that it claims for, and counts their latest requests after that.
 * So no endpoint gets more requests a minute than the limit, however many processes send.
 */
import { limits, rateLimits } from '@dock/contract'
import { sql } from 'kysely'
import { columnList } from '../../database/columns.ts'
import { type Db, withTransaction } from '../../database/database.ts'
import type { Claim } from '../../engine/index.ts'
import type { DeliveryRow } from './delivery-store.ts'
import type { EndpointRow } from './endpoint-store.ts'

/** A claimed delivery, its endpoint, and the row of the request that is about to be sent. */
export type ClaimedDelivery = { delivery: DeliveryRow; endpoint: EndpointRow; attemptId: string }

/**
 * How long no other process takes a claimed delivery, in milliseconds. Longer than a request lasts. If the sender dies, the
 * delivery is sent again after this time.
 */
export const leaseMs = 20_000

/** For how long a request counts towards the limit after its end, in milliseconds. */
const windowMs = rateLimits.webhookDeliveries.windowSeconds * 1_000

/** How many endpoints one claim considers. */
const endpointsPerClaim = 50

/** An enabled endpoint with pending deliveries, and when the first of them is due. */
export type WaitingEndpoint = { endpointId: string; organizationId: string; dueAt: Date }

/**
 * Returns the enabled endpoints that have pending deliveries. Reads one index entry for each. An endpoint that is removed
 * or disabled may still have some.
 */
export async function listWaitingEndpoints(db: Db): Promise<WaitingEndpoint[]> {
  const { rows } = await sql<WaitingEndpoint>`
  with recursive waiting as (
    (select endpoint_id, next_attempt_at from webhook_deliveries where status = 'pending'
      order by endpoint_id, next_attempt_at limit 1)
    union all
    select n.endpoint_id, n.next_attempt_at from waiting w cross join lateral (
      select endpoint_id, next_attempt_at from webhook_deliveries
      where status = 'pending' and endpoint_id > w.endpoint_id order by endpoint_id, next_attempt_at limit 1) n)
  select w.endpoint_id as "endpointId", w.next_attempt_at as "dueAt", e.organization_id as "organizationId"
  from waiting w join webhook_endpoints e on e.id = w.endpoint_id and e.disabled_at is null`.execute(db)
  return rows
}

type Claimed = { delivery: DeliveryRow; attemptId: string }

/** Returns how many requests each endpoint may still get, and when the next slot is free if it has none. */
const readBudgets = async (
  tx: Db,
  endpointIds: readonly string[],
  now: Date,
): Promise<Map<string, { slots: number; freeAt: Date | null }>> => {
  const { rows } = await sql<{ id: string; used: number; firstEnd: Date | null }>`
  select e.id, count(a.id) as used, min(coalesce(a.finished_at, ${now}::timestamptz)) as "firstEnd"
  from unnest(${endpointIds}::uuid[]) e (id) left join webhook_attempts a on a.endpoint_id = e.id
    and a.started_at > ${new Date(now.getTime() - windowMs - leaseMs)}
    and (a.finished_at is null or a.finished_at > ${new Date(now.getTime() - windowMs)})
  group by e.id`.execute(tx)
  return new Map(
    rows.map(({ id, used, firstEnd }) => [
      id,
      {
        slots: Math.max(0, rateLimits.webhookDeliveries.max - used),
        freeAt: firstEnd && new Date(firstEnd.getTime() + windowMs + 1),
      },
    ]),
  )
}

const takeDue = async (
  tx: Db,
  rooms: readonly { endpointId: string; slots: number }[],
  now: Date,
): Promise<Claimed[]> => {
  const { rows } = await sql<DeliveryRow & { attempt_id: string }>`
  with due as (
    select d.id from unnest(${rooms.map(({ endpointId }) => endpointId)}::uuid[], ${rooms.map(({ slots }) => slots)}::int[])
      r (endpoint_id, slots)
    cross join lateral (select id from webhook_deliveries
      where endpoint_id = r.endpoint_id and status = 'pending' and next_attempt_at <= ${now}
        and attempts < ${limits.webhook.attemptsMax}
      order by next_attempt_at limit r.slots for no key update skip locked) d),
  claimed as (
    update webhook_deliveries d set attempts = attempts + 1, next_attempt_at = ${new Date(now.getTime() + leaseMs)}
    from due where d.id = due.id returning ${columnList('webhook_deliveries', 'd')}),
  begun as (
    insert into webhook_attempts (id, delivery_id, endpoint_id, event_id, event, started_at)
    select gen_random_uuid(), id, endpoint_id, event_id, event, ${now}::timestamptz from claimed returning id, delivery_id)
  select ${columnList('webhook_deliveries', 'c')}, b.id as attempt_id from claimed c join begun b on b.delivery_id = c.id`.execute(
    tx,
  )
  return rows.map(({ attempt_id: attemptId, ...delivery }) => ({ delivery, attemptId }))
}

/** How many requests are in flight, and how many more may be. */
export type Room = { inFlight: number; left: number }

export type Rooms = {
  ofEndpoint(endpointId: string): Room
  ofOrganization(organizationId: string): Room
  /** The limit of an endpoint was reached: it is not considered before `until`. */
  rest(endpointId: string, until: Date): void
  isResting(endpointId: string, now: Date): Date | null
}

type Candidate = WaitingEndpoint & { endpoint: Room; organization: Room }

/** Those with the fewest requests in flight come first, so that a busy endpoint does not use up its organization's room. */
const compareCandidates = (one: Candidate, other: Candidate): number =>
  one.organization.inFlight - other.organization.inFlight ||
  one.endpoint.inFlight - other.endpoint.inFlight ||
  one.dueAt.getTime() - other.dueAt.getTime()

/** Returns how many deliveries of each endpoint to take, and lets endpoints rest whose limit is reached. */
const shareSlots = (
  chosen: readonly Candidate[],
  budgets: Awaited<ReturnType<typeof readBudgets>>,
  limit: number,
  rooms: Rooms,
): { endpointId: string; slots: number }[] => {
  const share = Math.max(1, Math.floor(limit / chosen.length))
  const leftOf = new Map<string, number>()
  return chosen.flatMap(({ endpointId, organizationId, endpoint, organization }) => {
    const budget = budgets.get(endpointId)
    if (!budget) return []
    if (budget.slots === 0 && budget.freeAt) rooms.rest(endpointId, budget.freeAt)
    const left = leftOf.get(organizationId) ?? organization.left
    const slots = Math.min(endpoint.left, share, budget.slots, left)
    if (slots === 0) return []
    leftOf.set(organizationId, left - slots)
    return [{ endpointId, slots }]
  })
}

/** Claims at most `limit` due deliveries, spread over organizations. */
export async function claimDeliveries(
  db: Db,
  rooms: Rooms,
  limit: number,
  now: Date,
): Promise<Claim<ClaimedDelivery>> {
  let nextAt: Date | null = null
  const noteNext = (at: Date): void => {
    if (!nextAt || at < nextAt) nextAt = at
  }
  const due: Candidate[] = []
  for (const waiting of await listWaitingEndpoints(db)) {
    const { endpointId, organizationId, dueAt } = waiting
    const restsUntil = rooms.isResting(endpointId, now)
    if (restsUntil) noteNext(restsUntil)
    else if (dueAt > now) noteNext(dueAt)
    else {
      const endpoint = rooms.ofEndpoint(endpointId)
      const organization = rooms.ofOrganization(organizationId)
      if (endpoint.left > 0 && organization.left > 0) due.push({ ...waiting, endpoint, organization })
    }
  }
  if (due.length === 0) return { items: [], nextAt }
  const chosen = due.toSorted(compareCandidates).slice(0, Math.min(endpointsPerClaim, limit))
  const items = await withTransaction(db, async (tx) => {
    const locked = await sql<EndpointRow>`select ${columnList('webhook_endpoints')} from webhook_endpoints
      where id = any(${chosen.map(({ endpointId }) => endpointId)}::uuid[]) and disabled_at is null
      order by id for no key update skip locked`.execute(tx)
    const endpoints = new Map(locked.rows.map((row) => [row.id, row]))
    if (endpoints.size === 0) return []
    const takes = shareSlots(chosen, await readBudgets(tx, [...endpoints.keys()], now), limit, rooms)
    if (takes.length === 0) return []
    const claimed = await takeDue(tx, takes, now)
    return claimed.map(({ delivery, attemptId }) => ({
      delivery,
      attemptId,
      endpoint: endpoints.get(delivery.endpoint_id)!,
    }))
  })
  for (const { endpointId } of chosen) {
    const restsUntil = rooms.isResting(endpointId, now)
    if (!restsUntil) continue
    noteNext(restsUntil)
    // Endpoints that were not chosen may be served in place of those that rest from now on.
    if (due.length > chosen.length) noteNext(now)
  }
  return { items, nextAt }
}
