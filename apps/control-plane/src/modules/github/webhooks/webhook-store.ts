/** All SQL for received webhooks. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { columnList } from '../../../database/columns.ts'
import type { Db, Row, Tx } from '../../../database/database.ts'
import { batchRows, deleteInBatches } from '../../../database/delete-in-batches.ts'
import type { Claim } from '../../../engine/index.ts'

export type WebhookRow = Row<'github_webhooks'>

/** How long no other process takes a claimed webhook, in milliseconds. Longer than the calls of one last. */
export const leaseMs = 120_000

/**
 * A trigger that is older starts nothing, so its key may be forgotten after twice the time. GitHub delivers again for three
 * days.
 */
export const triggerAgeMsMax = 7 * 86_400_000
const keepMs = 2 * triggerAgeMsMax
/** GitHub knows its deliveries for three days. */
const keepUnlinkedMs = 4 * 86_400_000

/**
 * Saves a webhook. Changes nothing if a webhook with the same delivery id was saved before. One without a body concerns
 * nothing that is linked: it is done, and known only so that GitHub is not asked for it again.
 */
export async function insertWebhook(
  db: Db,
  webhook: { deliveryId: string; event: string; body: Buffer | null },
  now: Date,
): Promise<void> {
  await db
    .insertInto('github_webhooks')
    .values({
      id: newUuid(),
      delivery_id: webhook.deliveryId,
      event: webhook.event,
      body: webhook.body,
      received_at: now,
      next_attempt_at: now,
      processed_at: webhook.body === null ? now : null,
      outcome: webhook.body === null ? 'not_linked' : null,
    })
    .onConflict((conflict) => conflict.column('delivery_id').doNothing())
    .execute()
}

/** Leases due webhooks, oldest first. */
export async function claimWebhooks(db: Db, limit: number, now: Date): Promise<Claim<WebhookRow>> {
  const { rows } = await sql<WebhookRow>`
  with due as (select id from github_webhooks where processed_at is null and next_attempt_at <= ${now}
    order by next_attempt_at limit ${limit} for no key update skip locked)
  update github_webhooks w set attempts = attempts + 1, is_leased = true, next_attempt_at = ${new Date(now.getTime() + leaseMs)}
  from due where w.id = due.id returning ${columnList('github_webhooks', 'w')}`.execute(db)
  const next = await sql<{ at: Date | null }>`select min(next_attempt_at) as at from github_webhooks
    where processed_at is null`.execute(db)
  return { items: rows, nextAt: next.rows[0]?.at ?? null }
}

/** Ends the leases of earlier processes. Call it only when no other process works on the database. */
export async function releaseWebhooks(db: Db, now: Date): Promise<void> {
  await db
    .updateTable('github_webhooks')
    .set({ is_leased: false, next_attempt_at: now })
    .where('is_leased', '=', true)
    .execute()
}

/** Marks a webhook as processed and deletes its body. Returns false if the lease was lost to another process. */
export async function completeWebhook(
  tx: Db | Tx,
  { id, attempts }: WebhookRow,
  outcome: string,
  now: Date,
): Promise<boolean> {
  const result = await tx
    .updateTable('github_webhooks')
    .set({ processed_at: now, is_leased: false, body: null, outcome })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('processed_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Replaces the outcome of a webhook that was completed in this transaction. */
export async function recordOutcome(tx: Tx, { id }: WebhookRow, outcome: string): Promise<void> {
  await tx.updateTable('github_webhooks').set({ outcome }).where('id', '=', id).execute()
}

export async function postponeWebhook(db: Db, { id, attempts }: WebhookRow, until: Date): Promise<void> {
  await db
    .updateTable('github_webhooks')
    .set({ is_leased: false, next_attempt_at: until })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('processed_at', 'is', null)
    .execute()
}

/** Returns those of the delivery ids that were received. */
export async function findReceived(db: Db, deliveryIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select delivery_id as id from github_webhooks
    where delivery_id = any(${deliveryIds}::text[])`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Deletes old webhooks and trigger keys. */
export async function pruneWebhooks(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keepMs)
  await deleteInBatches(
    db,
    sql`delete from github_webhooks where id in (select id from github_webhooks where received_at < ${before}
      or (outcome = 'not_linked' and received_at < ${new Date(now.getTime() - keepUnlinkedMs)}) limit ${batchRows})`,
  )
  await deleteInBatches(
    db,
    sql`delete from github_triggers where (repository_id, key) in (select repository_id, key from github_triggers
      where at < ${before} limit ${batchRows})`,
  )
}
