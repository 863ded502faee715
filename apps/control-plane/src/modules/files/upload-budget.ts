/** How long an upload may wait for its client. Time in which the client waits for us does not count. */
import { limits, ServiceError } from '@dock/contract'

const { stallSeconds, bytesPerSecondMin } = limits.files

export type UploadPace = { stallMs: number; bytesPerSecond: number }

export const usualUploadPace: UploadPace = { stallMs: stallSeconds * 1000, bytesPerSecond: bytesPerSecondMin }

const tooSlow = (): ServiceError =>
  new ServiceError('validation_error', {
    message: `The upload made too little progress: nothing for ${stallSeconds} seconds, or less than ${bytesPerSecondMin} bytes a second.`,
  })

export type UploadBudget = {
  /** Adds the time that these bytes take at the least rate. */
  credit(bytes: number): void
  /** Waits for the client. Throws `validation_error` once the budget is used up. */
  wait<T>(work: Promise<T>): Promise<T>
}

/**
 * Waiting for the client uses up a budget of `stallMs`, and each chunk adds the time that it takes at `bytesPerSecond`.
 */
export function createUploadBudget({ stallMs, bytesPerSecond }: UploadPace): UploadBudget {
  let leftMs = stallMs
  return {
    credit: (bytes) => {
      leftMs = Math.min(stallMs, leftMs + (bytes / bytesPerSecond) * 1000)
    },
    wait: async (work) => {
      const startedAt = performance.now()
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => late.reject(tooSlow()), Math.max(0, leftMs))
      try {
        return await Promise.race([work, late.promise])
      } finally {
        clearTimeout(timer)
        leftMs -= performance.now() - startedAt
      }
    },
  }
}
