/**
 * Orders to destroy a Dock or a capture on a host that could not be told at once. An order is written in the transaction
 * that deletes the thing, and is removed when the host has carried it out. Giving or carrying out an order twice is
 * harmless. This is the only SQL for `host_orders`.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type HostOrder = {
  kind: 'dock' | 'capture'
  thingId: string
  /** Of a Dock: this generation and every older one go. 0 for a capture. */
  generation: number
}

export type OrderForHost = HostOrder & { hostId: string }

/** Statement that saves these orders if the query `given` returns a row; usable as a part of a larger statement. */
export function saveHostOrders(
  orders: readonly OrderForHost[],
  now: Date,
  given: RawBuilder<unknown> = sql`select 1`,
): RawBuilder<unknown> {
  return sql`
  insert into host_orders (host_id, kind, thing_id, generation, created_at)
  select o."hostId", o.kind, o."thingId", max(o.generation), ${now}::timestamptz
  from jsonb_to_recordset(${JSON.stringify(orders)}::jsonb)
    as o("hostId" uuid, kind text, "thingId" uuid, generation integer)
  where exists (${given}) group by 1, 2, 3
  on conflict (host_id, kind, thing_id) do update
    set generation = greatest(host_orders.generation, excluded.generation)`
}

/** Statement that orders captures removed; `captures` is a query or table of `id` and `host_id`. */
export function saveCaptureOrders(captures: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
  insert into host_orders (host_id, kind, thing_id, created_at)
  select c.host_id, 'capture', c.id, ${now}::timestamptz from ${captures} c where c.host_id is not null
  on conflict do nothing`
}

/** Up to `limit` orders for the host, oldest first. */
export async function ordersForHost(db: Db, hostId: string, limit: number): Promise<HostOrder[]> {
  return (
    await sql<HostOrder>`
      select kind, thing_id as "thingId", generation from host_orders
      where host_id = ${hostId} order by created_at, thing_id limit ${limit}`.execute(db)
  ).rows
}

/** Those of the Docks that the host is ordered to destroy, each with the newest generation that goes. */
export async function orderedDocks(
  db: Db,
  hostId: string,
  dockIds: readonly string[],
): Promise<Map<string, number>> {
  return new Map(
    (
      await sql<{ id: string; generation: number }>`
        select thing_id as id, generation from host_orders
        where host_id = ${hostId} and kind = 'dock' and thing_id = any(${dockIds}::uuid[])`.execute(db)
    ).rows.map(({ id, generation }) => [id, generation]),
  )
}

/** True if the order still stands: a restore to the same host takes the order for a capture back. */
export async function stillOrdered(db: Db, { hostId, kind, thingId }: OrderForHost): Promise<boolean> {
  return (
    (
      await sql`select 1 from host_orders
      where host_id = ${hostId} and kind = ${kind} and thing_id = ${thingId}`.execute(db)
    ).rows.length > 0
  )
}

/** Removes an order that was carried out or taken back; one that names a newer generation by now stays. */
export async function endHostOrder(db: Db, order: OrderForHost): Promise<void> {
  const { hostId, kind, thingId, generation } = order
  await sql`delete from host_orders where host_id = ${hostId} and kind = ${kind} and thing_id = ${thingId}
    and generation <= ${generation}`.execute(db)
}
