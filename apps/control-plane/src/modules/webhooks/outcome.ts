/** What follows from a receiver's response. */
import { limits } from '@dock/contract'
import { retryPauseMs } from '../../engine/index.ts'
import type { Outcome } from './delivery-store.ts'
import type { Receipt } from './public-web.ts'

const { attemptsMax, backoffSeconds } = limits.webhook
const backoff = { firstMs: backoffSeconds.first * 1_000, longestMs: backoffSeconds.max * 1_000 }

const isRetried = (status: number): boolean => status === 408 || status === 429 || status >= 500
/** The statuses whose `Retry-After` is honoured. */
const mayAskForTime = (status: number): boolean => status === 429 || status === 503

/**
 * 2xx: sent. 410: the endpoint is disabled. 408, 429, 5xx and no response: repeated, up to 25 attempts. Everything else
 * is final, also a redirect. A `Retry-After` that is longer than the backoff is honoured up to an hour.
 */
export function decideOutcome(receipt: Receipt, attempts: number, now: Date): Outcome {
  const { status } = receipt
  if (status !== null) {
    if (status >= 200 && status < 300) return { kind: 'sent' }
    if (status === 410) return { kind: 'disable' }
    if (!isRetried(status)) return { kind: 'failed' }
  }
  if (attempts >= attemptsMax) return { kind: 'failed' }
  const pauseMs = retryPauseMs(attempts, backoff)
  const askedMs =
    status !== null && mayAskForTime(status)
      ? Math.min((receipt.retryAfterSeconds ?? 0) * 1_000, backoff.longestMs)
      : 0
  return { kind: 'retry', at: new Date(now.getTime() + Math.max(pauseMs, askedMs)) }
}
