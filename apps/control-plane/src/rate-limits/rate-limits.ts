/** Fixed windows of the contract's rate limits, counted in memory for each subject. */
import { type RateLimitName, rateLimits, ServiceError } from '@dock/contract'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

export type RateLimits = {
  /** Counts one call. Throws `rate_limited` past the limit and `service_unavailable` when it cannot be counted. */
  consume(name: RateLimitName, subject: string): Promise<void>
}

/** Limits of one process. */
export const createRateLimits = (): RateLimits => {
  const limiters = new Map(
    Object.entries(rateLimits).map(([name, { max, windowSeconds }]) => [
      name,
      new RateLimiterMemory({ keyPrefix: name, points: max, duration: windowSeconds }),
    ]),
  )
  return {
    consume: async (name, subject) => {
      try {
        const limiter = limiters.get(name)
        if (!limiter) throw new Error(`no limiter ${name}`)
        await limiter.consume(subject)
      } catch (error) {
        if (!(error instanceof RateLimiterRes))
          throw new ServiceError('service_unavailable', { cause: error })
        const seconds = Math.ceil(error.msBeforeNext / 1000)
        throw new ServiceError('rate_limited', {
          message: `At most ${rateLimits[name].max} in ${rateLimits[name].windowSeconds} seconds; retry in ${seconds} seconds.`,
        })
      }
    },
  }
}
