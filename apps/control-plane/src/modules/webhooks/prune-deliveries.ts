/** Bounds what is kept of deliveries, and completes requests whose sender died. */
import { limits } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { batchRows, deleteInBatches } from '../../database/delete-in-batches.ts'
import { leaseMs } from './claim-deliveries.ts'

const hourMs = 3_600_000
/** How long deliveries and requests are kept. */
export const deliveriesKeptMs = 30 * 24 * hourMs
/** How long a delivery may stay pending: longer than all 25 attempts take. */
export const pendingMsMax = 3 * 24 * hourMs
/** How many requests of an endpoint are kept. */
export const attemptsKeptMax = 1_000
/** How many deliveries of an endpoint may be pending. The oldest beyond it are given up. */
export const pendingMax = 10_000

type Context = { db: Db; clock: Clock }

/**
 * Completes requests that never ended, because their sender died. Their deliveries are sent again, except after the last
 * attempt.
 */
export async function closeLostAttempts({ db, clock }: Context): Promise<void> {
  const now = clock.now()
  const { attemptsMax } = limits.webhook
  await sql`
  with lost as (update webhook_attempts a set finished_at = ${now}, error = 'Dock was restarted before the receiver responded.'
      || case when d.attempts < ${attemptsMax} then ' The delivery is repeated.' else '' end
    from webhook_deliveries d where d.id = a.delivery_id and a.finished_at is null
      and a.started_at < ${new Date(now.getTime() - leaseMs)} returning a.delivery_id)
  update webhook_deliveries d set status = 'failed' from lost
    where d.id = lost.delivery_id and d.status = 'pending' and d.attempts >= ${attemptsMax}
      and d.next_attempt_at <= ${now}`.execute(db)
}

/** Deletes what is old, what is too much, and what belongs to endpoints that were removed. */
export async function pruneDeliveries({ db, clock }: Context): Promise<void> {
  const now = clock.now()
  const before = (ms: number): Date => new Date(now.getTime() - ms)
  await deleteInBatches(
    db,
    sql`delete from webhook_deliveries where id in (
      select d.id from webhook_deliveries d
      where d.created_at < ${before(deliveriesKeptMs)}
        or not exists (select 1 from webhook_endpoints e where e.id = d.endpoint_id)
      limit ${batchRows})`,
  )
  await sql`update webhook_deliveries set status = 'failed'
    where status = 'pending' and created_at < ${before(pendingMsMax)}`.execute(db)
  await sql`update webhook_deliveries set status = 'failed' where status = 'pending' and id in (
    select o.id from webhook_endpoints e cross join lateral (
      select d.id from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'pending'
      order by d.created_at desc offset ${pendingMax}) o)`.execute(db)
  await sql`delete from webhook_attempts where id in (
    select o.id from webhook_endpoints e cross join lateral (
      select a.id from webhook_attempts a where a.endpoint_id = e.id
      order by a.started_at desc, a.id desc offset ${attemptsKeptMax}) o)`.execute(db)
  // A settled delivery is needed only while one of its requests is listed.
  await deleteInBatches(
    db,
    sql`delete from webhook_deliveries where id in (
      select d.id from webhook_deliveries d where d.status <> 'pending' and d.created_at < ${before(hourMs)}
        and not exists (select 1 from webhook_attempts a where a.delivery_id = d.id)
      limit ${batchRows})`,
  )
}

/** Deletes a batch of an organization's deliveries. Returns the number of tables that still have rows. */
export async function removeDeliveries(db: Db, organizationId: string): Promise<number> {
  const isDone = await deleteInBatches(
    db,
    sql`delete from webhook_deliveries where id in (
      select id from webhook_deliveries where organization_id = ${organizationId} limit ${batchRows})`,
  )
  return isDone ? 0 : 1
}
