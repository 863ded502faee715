/** Processes received webhooks: each once, under a lease, and again if GitHub could not be asked. */
import type { Clock, Logger } from '@dock/foundation'
import { type Db, withTransaction } from '../../../database/database.ts'
import { createDeliveryEngine, type DeliveryEngine, retryPauseMs } from '../../../engine/index.ts'
import { GithubRefused, GithubUnavailable } from '../api/github-errors.ts'
import type { GithubOperations } from '../api/github-operations.ts'
import type { FindApp } from '../app/github-app.ts'
import type { RunSink } from '../run-triggers.ts'
import { type Applied, applyPlan, type Notice } from './apply-plan.ts'
import { nothing, type Plan } from './plan.ts'
import { isKnownEvent, planWebhook } from './plan-webhook.ts'
import {
  claimWebhooks,
  completeWebhook,
  postponeWebhook,
  recordOutcome,
  type WebhookRow,
} from './webhook-store.ts'

const inFlightMax = 8
/** With these pauses, the last attempt is about a day after the first. */
const attemptsMax = 20
const pauses = { firstMs: 5_000, longestMs: 2 * 3_600_000 }

export type ProcessorOptions = {
  db: Db
  clock: Clock
  logger: Logger
  findApp: FindApp
  operations: GithubOperations
  runs: RunSink
}

/** Thrown to undo a transaction whose webhook another process has taken. */
class LeaseLost extends Error {}

export function createWebhookProcessor(options: ProcessorOptions): DeliveryEngine {
  const { db, clock, logger, findApp, operations, runs } = options

  const plan = async (row: WebhookRow): Promise<Plan> => {
    const app = await findApp()
    if (!app) return nothing('no_app')
    if (!row.body || !isKnownEvent(row.event)) return nothing('ignored')
    return planWebhook({ db, now: () => clock.now(), app, operations, runs }, row.event, row.body)
  }

  const apply = (row: WebhookRow, planned: Plan): Promise<Applied> =>
    withTransaction(db, async (tx) => {
      // First, because it locks the row: a second process with the same webhook waits here, then finds it done.
      if (!(await completeWebhook(tx, row, 'processing', clock.now()))) throw new LeaseLost()
      const applied = await applyPlan(tx, runs, planned, clock.now())
      await recordOutcome(tx, row, applied.outcome)
      return applied
    })

  /** Comments once per window that there were too many triggers. The caller logs a failure and does not retry. */
  const give = async ({ repository, issueNumber, until }: Notice): Promise<void> => {
    const body = `Too many Runs were asked for in this repository within the hour. Ask again after ${until.toISOString().slice(11, 16)} UTC.`
    const marker = `limit-${until.getTime()}`
    await operations.writeStatusComment(repository, { issueNumber, marker, commentId: null, body })
  }

  const deliver = async (row: WebhookRow): Promise<void> => {
    const log = logger.child({ deliveryId: row.delivery_id, event: row.event })
    try {
      const applied = await apply(row, await plan(row))
      log.info({ outcome: applied.outcome }, 'processed a webhook of GitHub')
      runs.wake()
      if (applied.notice)
        await give(applied.notice).catch((error: unknown) =>
          log.warn({ err: error }, 'could not tell people of the limit'),
        )
    } catch (error) {
      if (error instanceof LeaseLost) return
      if (error instanceof GithubRefused || row.attempts >= attemptsMax) {
        log.warn({ err: error }, 'a webhook of GitHub has no effect')
        await completeWebhook(db, row, 'failed', clock.now())
        return
      }
      const asked = error instanceof GithubUnavailable ? (error.retryAfterMs ?? 0) : 0
      log.warn({ err: error }, 'could not process a webhook of GitHub; it is tried again')
      const pauseMs = Math.max(asked, retryPauseMs(row.attempts, pauses))
      await postponeWebhook(db, row, new Date(clock.now().getTime() + pauseMs))
    }
  }

  return createDeliveryEngine<WebhookRow>({
    name: 'webhooks of GitHub',
    clock,
    logger,
    inFlightMax,
    laneOf: ({ id }) => id,
    claim: ({ limit }) => claimWebhooks(db, limit, clock.now()),
    deliver,
  })
}
