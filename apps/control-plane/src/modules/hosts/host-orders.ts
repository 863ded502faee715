/**
 * Orders: durable commands to destroy a Dock or a capture on a host, or to undo the start of a Dock there. An order is saved in the transaction that deletes the
 * Dock or Snapshot, and removed once the host has carried it out. Saving and carrying out an order are idempotent. This is
 * the only SQL for `host_orders`.
 */
import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../database/database.ts'

const hostOrder = z.strictObject({
  kind: z.enum(['dock', 'start', 'capture']),
  /** Id of the capture, or of the Dock. */
  thingId: z.uuid(),
  /**
   * For a Dock, the newest generation to destroy; older ones are destroyed too. For a start, the only generation to
   * destroy. 0 for a capture.
   */
  generation: z.int(),
})
export type HostOrder = z.infer<typeof hostOrder>

export const orderForHost = hostOrder.extend({ hostId: z.uuid() })
export type OrderForHost = z.infer<typeof orderForHost>

/** SQL statement that saves these orders if the query `given` returns a row. It can be part of a larger statement. */
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

/** SQL statement that orders the removal of captures. `captures` is a query or table of `id` and `host_id`. */
export function saveCaptureOrders(captures: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
  insert into host_orders (host_id, kind, thing_id, created_at)
  select c.host_id, 'capture', c.id, ${now}::timestamptz from ${captures} c where c.host_id is not null
  on conflict do nothing`
}

/** An order that was read, after which the next page begins. */
export type OrderPosition = Pick<HostOrder, 'kind' | 'thingId'> & { createdAt: Date }

/** Returns up to `limit` orders of these kinds for the host after the position `after`, oldest first. */
export async function listOrdersForHost(
  db: Db,
  hostId: string,
  page: { kinds: readonly HostOrder['kind'][]; after: OrderPosition | null; limit: number },
): Promise<(HostOrder & OrderPosition)[]> {
  const { kinds, after, limit } = page
  return (
    await sql<HostOrder & OrderPosition>`
      select kind, thing_id as "thingId", generation, created_at as "createdAt" from host_orders
      where host_id = ${hostId} and kind in (${sql.join(kinds)})
        ${after ? sql`and (created_at, thing_id, kind) > (${after.createdAt}::timestamptz, ${after.thingId}::uuid, ${after.kind})` : sql``}
      order by created_at, thing_id, kind limit ${limit}`.execute(db)
  ).rows
}

/** The generations of a Dock that a host is ordered to destroy: all up to `upTo`, and `start`. 0 stands for none. */
export type OrderedGenerations = { upTo: number; start: number }

/** Returns the Docks among `dockIds` that have a generation which the host is ordered to destroy. */
export async function listOrderedDocks(
  db: Db,
  hostId: string,
  dockIds: readonly string[],
): Promise<Map<string, OrderedGenerations>> {
  return new Map(
    (
      await sql<OrderedGenerations & { id: string }>`
        select thing_id as id, coalesce(max(generation) filter (where kind = 'dock'), 0) as "upTo",
          coalesce(max(generation) filter (where kind = 'start'), 0) as start
        from host_orders
        where host_id = ${hostId} and kind in ('dock', 'start') and thing_id = any(${dockIds}::uuid[])
        group by thing_id`.execute(db)
    ).rows.map(({ id, ...generations }) => [id, generations]),
  )
}

/** Returns true if the order still exists. A restore of the capture to the same host cancels its order. */
export async function isStillOrdered(db: Db, { hostId, kind, thingId }: OrderForHost): Promise<boolean> {
  return (
    (
      await sql`select 1 from host_orders
      where host_id = ${hostId} and kind = ${kind} and thing_id = ${thingId}`.execute(db)
    ).rows.length > 0
  )
}

/** Removes an order that was carried out or cancelled, unless it now applies to a newer generation. */
export async function endHostOrder(db: Db, order: OrderForHost): Promise<void> {
  const { hostId, kind, thingId, generation } = order
  await sql`delete from host_orders where host_id = ${hostId} and kind = ${kind} and thing_id = ${thingId}
    and generation <= ${generation}`.execute(db)
}
