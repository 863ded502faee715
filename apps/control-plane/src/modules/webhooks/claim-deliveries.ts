/**
 * Claims due deliveries. Each claim locks the endpoints that it claims for, and counts their latest requests after that.
 * So no endpoint gets more requests a minute than the limit, however many processes send.
 */
import { rateLimits } from '@dock/contract'
import { sql } from 'kysely'
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

/** An endpoint with pending deliveries. `organizationId` is null if the endpoint was removed. */
export type WaitingEndpoint = { endpointId: string; organizationId: string | null; dueAt: Date }

/** Returns each endpoint that has pending deliveries, with the time of its first. Reads one index entry for each. */
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
  from waiting w left join webhook_endpoints e on e.id = w.endpoint_id`.execute(db)
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
      order by next_attempt_at limit r.slots for no key update skip locked) d),
  claimed as (
    update webhook_deliveries d set attempts = attempts + 1, next_attempt_at = ${new Date(now.getTime() + leaseMs)}
    from due where d.id = due.id returning d.*),
  begun as (
    insert into webhook_attempts (id, delivery_id, endpoint_id, event_id, event, started_at)
    select gen_random_uuid(), id, endpoint_id, event_id, event, ${now}::timestamptz from claimed returning id, delivery_id)
  select c.*, b.id as attempt_id from claimed c join begun b on b.delivery_id = c.id`.execute(tx)
  return rows.map(({ attempt_id: attemptId, ...delivery }) => ({ delivery, attemptId }))
}

export type Rooms = {
  /** How many more requests may be in flight to an endpoint. */
  roomOf(endpointId: string, organizationId: string): number
  /** Orders endpoints: those of the organization with the fewest requests in flight come first. */
  inFlightOf(organizationId: string): number
  /** The limit of an endpoint was reached: it is not considered before `until`. */
  rest(endpointId: string, until: Date): void
  isResting(endpointId: string, now: Date): Date | null
}

/** Claims at most `limit` due deliveries, spread over organizations. */
export async function claimDeliveries(
  db: Db,
  rooms: Rooms,
  limit: number,
  now: Date,
): Promise<Claim<ClaimedDelivery>> {
  const waiting = await listWaitingEndpoints(db)
  let nextAt: Date | null = null
  const noteNext = (at: Date): void => {
    if (at > now && (!nextAt || at < nextAt)) nextAt = at
  }
  const due: { endpointId: string; room: number; load: number }[] = []
  for (const { endpointId, organizationId, dueAt } of waiting) {
    if (organizationId === null) continue
    const restsUntil = rooms.isResting(endpointId, now)
    if (restsUntil) noteNext(restsUntil)
    else if (dueAt > now) noteNext(dueAt)
    else {
      const room = rooms.roomOf(endpointId, organizationId)
      if (room > 0) due.push({ endpointId, room, load: rooms.inFlightOf(organizationId) })
    }
  }
  if (due.length === 0) return { items: [], nextAt }
  const chosen = due.toSorted((a, b) => a.load - b.load).slice(0, Math.min(endpointsPerClaim, limit))
  const share = Math.max(1, Math.floor(limit / chosen.length))
  const items = await withTransaction(db, async (tx) => {
    const locked = await sql<EndpointRow>`select * from webhook_endpoints
      where id = any(${chosen.map(({ endpointId }) => endpointId)}::uuid[]) and disabled_at is null
      order by id for no key update skip locked`.execute(tx)
    const endpoints = new Map(locked.rows.map((row) => [row.id, row]))
    if (endpoints.size === 0) return []
    const budgets = await readBudgets(tx, [...endpoints.keys()], now)
    const takes = chosen.flatMap(({ endpointId, room }) => {
      const budget = budgets.get(endpointId)
      if (!budget) return []
      if (budget.slots === 0 && budget.freeAt) rooms.rest(endpointId, budget.freeAt)
      return budget.slots === 0 ? [] : [{ endpointId, slots: Math.min(room, share, budget.slots) }]
    })
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
    if (restsUntil) noteNext(restsUntil)
  }
  return { items, nextAt }
}
