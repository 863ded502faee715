/**
 * Enforces the contract's rate limits: fixed windows, counted per subject. Calls that cannot be counted are refused.
 */
import { type RateLimit, type RateLimitName, rateLimits, ServiceError } from '@dock/contract'
import { networkOf } from '@dock/foundation'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import type { CounterStore } from './redis-counters.ts'

export type RateLimits = {
  /** Counts a call. Throws `rate_limited` over the limit, and `service_unavailable` if the counter store fails. */
  take(name: RateLimitName, subject: string): Promise<void>
  /** Takes a counted call back. A failure of the counter store is ignored: the call stays counted until its window ends. */
  giveBack(name: RateLimitName, subject: string): Promise<void>
}

const limiterOf = (name: string, limit: RateLimit, store: CounterStore | null): RateLimiterAbstract => {
  const options = { keyPrefix: `dock:limit:${name}`, points: limit.max, duration: limit.windowSeconds }
  return store
    ? new RateLimiterRedis({ ...options, storeClient: store.client })
    : new RateLimiterMemory(options)
}

const past = (limit: RateLimit, msBeforeNext: number): ServiceError => {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new ServiceError('rate_limited', {
    message: `At most ${limit.max} requests in ${limit.windowSeconds} seconds. Retry in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  })
}

/** Counts in the shared store, or in this process's memory if there is none. */
export function createRateLimits(store: CounterStore | null = null): RateLimits {
  const limiters = Object.fromEntries(
    Object.entries<RateLimit>(rateLimits).map(([name, limit]) => [name, limiterOf(name, limit, store)]),
  ) as Record<RateLimitName, RateLimiterAbstract>
  const keyOf = ({ scope }: RateLimit, subject: string): string =>
    scope === 'client-address' ? networkOf(subject) : subject
  return {
    take: async (name, subject) => {
      const limit: RateLimit = rateLimits[name]
      try {
        await limiters[name].consume(keyOf(limit, subject))
      } catch (error) {
        if (error instanceof RateLimiterRes) throw past(limit, error.msBeforeNext)
        throw new ServiceError('service_unavailable', { cause: error })
      }
    },
    giveBack: async (name, subject) => {
      await limiters[name].reward(keyOf(rateLimits[name], subject)).catch(() => undefined)
    },
  }
}
