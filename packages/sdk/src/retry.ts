/** Which failed requests are sent again, and when. */
import { ConnectionError, DockApiError, type DockError } from './dock-error.ts'
import { backoffMs } from './pause.ts'

export type RetryOptions = {
  /** How often a request is repeated at most. 0: never. */
  retries: number
  /** A longer `Retry-After` is an error at once. */
  retryAfterSecondsMax: number
}

/** What matters about a request. */
export type Repeatable = {
  /** Its effect is the same if it is carried out twice. */
  isSafe: boolean
  /** Its key was made by the SDK, so a request with this key that is still running is our own. */
  isOwnKey: boolean
}

/** The request was not carried out. */
const refused = ['rate_limited', 'exec_busy']
const passing = ['service_unavailable', 'bad_gateway', 'internal_error']
const proxyStatuses = [502, 503, 504]

const isPassing = (error: DockError): boolean =>
  error instanceof ConnectionError ||
  passing.includes(error.code) ||
  (error instanceof DockApiError && error.code === 'bad_response' && proxyStatuses.includes(error.status))

/** Waits for an own request that is still running do not count as attempts, but end after this many. */
const waitsMax = 200

/** Decides about one call. Returns the milliseconds to wait before the next attempt, or null to give up. */
export function retryPlan(options: RetryOptions, request: Repeatable): (error: unknown) => number | null {
  let attempts = 0
  let waits = 0
  return (error) => {
    if (options.retries === 0 || !(error instanceof DockApiError || error instanceof ConnectionError))
      return null
    // After a broken attempt, the one that is running is most likely ours.
    if (error.code === 'idempotency_in_progress' && (request.isOwnKey || attempts > 0)) {
      waits += 1
      return waits > waitsMax ? null : backoffMs(waits)
    }
    const mayRepeat = refused.includes(error.code) || (request.isSafe && isPassing(error))
    attempts += 1
    if (!mayRepeat || attempts > options.retries) return null
    const retryAfter = error instanceof DockApiError ? error.retryAfterSeconds : null
    if (retryAfter === null) return backoffMs(attempts)
    return retryAfter > options.retryAfterSecondsMax ? null : retryAfter * 1000
  }
}
