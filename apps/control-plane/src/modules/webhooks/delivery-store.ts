/** SQL for deliveries and the requests made for them, except the claim. */
import { limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { columnsOf } from '../../database/columns.ts'
import type { Db, Row } from '../../database/database.ts'

export type DeliveryRow = Row<'webhook_deliveries'>
export type AttemptRow = Row<'webhook_attempts'>
/** What a list shows of a request. */
export type ListedAttemptRow = Pick<AttemptRow, (typeof listedColumns)[number]>

const listedColumns = ['id', 'event_id', 'endpoint_id', 'event', 'status', 'error', 'started_at'] as const

/** What follows from a response: see outcome.ts. */
export type Outcome =
  | { kind: 'sent' }
  | { kind: 'failed' }
  | { kind: 'disable' }
  | { kind: 'retry'; at: Date }

/**
 * Records the end of a request and its outcome in one statement. An acceptance always counts. If the lease has expired and
 * somebody else took the delivery again, all else only completes the request's row. An outcome `disable` cancels all
 * pending deliveries of the endpoint.
 */
export async function recordAttempt(
  db: Db,
  attempt: {
    id: string
    delivery: DeliveryRow
    status: number | null
    error: string | null
    answer: string | null
  },
  outcome: Outcome,
  now: Date,
): Promise<void> {
  const { delivery } = attempt
  // PostgreSQL stores no NUL in a text.
  const answer = attempt.answer?.replaceAll('\0', '') ?? null
  const isDisabling = outcome.kind === 'disable'
  const status = outcome.kind === 'sent' ? 'sent' : outcome.kind === 'retry' ? 'pending' : 'failed'
  const nextAt = outcome.kind === 'retry' ? outcome.at : now
  await sql`
  with ended as (update webhook_attempts set status = ${attempt.status}, error = ${attempt.error}, answer = ${answer},
    finished_at = ${now}
    where id = ${attempt.id} and finished_at is null),
  settled as (update webhook_deliveries set status = ${status}, next_attempt_at = ${nextAt}
    where id = ${delivery.id} and status = 'pending'
      and (attempts = ${delivery.attempts} or ${outcome.kind === 'sent'}::boolean)),
  cancelled as (update webhook_deliveries set status = 'cancelled'
    where ${isDisabling}::boolean and endpoint_id = ${delivery.endpoint_id} and status = 'pending' and id <> ${delivery.id})
  update webhook_endpoints set disabled_at = ${now}, updated_at = ${now}
    where ${isDisabling}::boolean and id = ${delivery.endpoint_id} and disabled_at is null`.execute(db)
}

/** The event that a delivery carries, and its endpoint. */
export type DeliveredEvent = Pick<
  DeliveryRow,
  | 'endpoint_id'
  | 'organization_id'
  | 'event_id'
  | 'event'
  | 'occurred_at'
  | 'dock_id'
  | 'dock_state'
  | 'workspace_id'
>

/** Saves a delivery that a person asked for: of a test event, or of an event again. It is due now. */
export async function saveDelivery(db: Db, event: DeliveredEvent, now: Date): Promise<void> {
  await db
    .insertInto('webhook_deliveries')
    .values({
      id: newUuid(),
      endpoint_id: event.endpoint_id,
      organization_id: event.organization_id,
      event_id: event.event_id,
      event: event.event,
      occurred_at: event.occurred_at,
      dock_id: event.dock_id,
      dock_state: event.dock_state,
      workspace_id: event.workspace_id,
      next_attempt_at: now,
      created_at: now,
    })
    .execute()
}

/** Returns the latest finished requests to an endpoint, newest first. */
export async function listAttemptRows(db: Db, endpointId: string): Promise<ListedAttemptRow[]> {
  return db
    .selectFrom('webhook_attempts')
    .select(listedColumns)
    .where('endpoint_id', '=', endpointId)
    .where('finished_at', 'is not', null)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limits.webhook.attemptsListedMax)
    .execute()
}

/** Returns a finished request to this endpoint, with its delivery. */
export async function findAttempt(
  db: Db,
  endpointId: string,
  attemptId: string,
): Promise<{ attempt: AttemptRow; delivery: DeliveryRow } | undefined> {
  const attempt = await db
    .selectFrom('webhook_attempts')
    .select(columnsOf('webhook_attempts'))
    .where('id', '=', attemptId)
    .where('endpoint_id', '=', endpointId)
    .where('finished_at', 'is not', null)
    .executeTakeFirst()
  if (!attempt) return undefined
  const delivery = await db
    .selectFrom('webhook_deliveries')
    .select(columnsOf('webhook_deliveries'))
    .where('id', '=', attempt.delivery_id)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst()
  return delivery && { attempt, delivery }
}
