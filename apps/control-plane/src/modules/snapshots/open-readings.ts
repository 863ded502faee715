/**
 * Limits of concurrent reads of Snapshots in this process, by person, organization and host. Each read keeps a process on
 * the host until the reader is done, so one person, or several slow readers, must not use up a host's capacity.
 */
import { limits, ServiceError } from '@dock/contract'
import { type Clock, systemClock } from '@dock/foundation'

const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax, stallSecondsMax, bytesPerSecondMin } =
  limits.snapshotReadings

export type OpenReadings = {
  /** Counts a read of the person until the returned function is called. Throws `rate_limited` above the limit. */
  ofUser(userId: string): () => void
  /** Counts a read from the host, and of the organization from that host, in the same way. */
  ofHost(hostId: string, organizationId: string): () => void
}

const createCounts = (max: number, refusal: string): ((key: string) => () => void) => {
  const open = new Map<string, number>()
  return (key) => {
    const count = open.get(key) ?? 0
    if (count >= max) throw new ServiceError('rate_limited', { message: refusal })
    open.set(key, count + 1)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      const left = (open.get(key) ?? 1) - 1
      if (left > 0) open.set(key, left)
      else open.delete(key)
    }
  }
}

export function createOpenReadings(): OpenReadings {
  const ofHost = createCounts(
    openPerHostMax,
    'Too many files are being read from the host of this Snapshot. Wait a moment and try again.',
  )
  const ofOrganization = createCounts(
    openPerHostAndOrganizationMax,
    `Your organization is reading ${openPerHostAndOrganizationMax} files or lists from the host of this Snapshot, which is the limit. Wait until one read ends and try again.`,
  )
  return {
    ofUser: createCounts(
      openPerUserMax,
      `You are reading ${openPerUserMax} files or lists of Snapshots, which is the limit. Wait until one read ends and try again.`,
    ),
    ofHost: (hostId, organizationId) => {
      const endOfOrganization = ofOrganization(`${hostId}/${organizationId}`)
      try {
        const endOfHost = ofHost(hostId)
        return () => {
          endOfHost()
          endOfOrganization()
        }
      } catch (error) {
        endOfOrganization()
        throw error
      }
    },
  }
}

export type ReaderPace<T> = {
  bytesOf(piece: NoInfer<T>): number
  /** Longest time without a read, in milliseconds, after which the reader is cut off. */
  stallMs?: number
  /** Minimum average rate in bytes per second, below which the reader is cut off. */
  bytesPerSecond?: number
  clock?: Clock
}

/**
 * Returns the same stream, which errors if its reader is too slow. `end` is called once the stream was read, failed, was
 * cancelled or was cut off.
 *
 * The reader has a time budget of at most `stallMs`. Waiting for the reader uses it up, and each piece that is read adds
 * the time that it takes at `bytesPerSecond`. The reader is cut off when the budget is used up. Time spent waiting for the
 * source does not count.
 */
export function limitSlowReader<T>(
  source: ReadableStream<T>,
  end: () => void,
  {
    bytesOf,
    stallMs = stallSecondsMax * 1000,
    bytesPerSecond = bytesPerSecondMin,
    clock = systemClock,
  }: ReaderPace<T>,
): ReadableStream<T> {
  const reader = source.getReader()
  let timeLeftMs = stallMs
  let waitingSince = 0
  let stopWaiting = (): void => undefined
  const settle = (): void => {
    stopWaiting()
    end()
  }
  const awaitReader = (controller: ReadableStreamDefaultController<T>): void => {
    waitingSince = clock.now().getTime()
    stopWaiting = clock.after(timeLeftMs, () => {
      const error = new Error('the reader stopped reading or is too slow')
      settle()
      controller.error(error)
      reader.cancel(error).catch(() => undefined)
    })
  }
  return new ReadableStream<T>(
    {
      start: awaitReader,
      pull: async (controller) => {
        stopWaiting()
        timeLeftMs -= clock.now().getTime() - waitingSince
        try {
          const { done, value } = await reader.read()
          if (done) {
            settle()
            controller.close()
            return
          }
          timeLeftMs = Math.min(stallMs, timeLeftMs + (bytesOf(value) / bytesPerSecond) * 1000)
          controller.enqueue(value)
          awaitReader(controller)
        } catch (error) {
          settle()
          throw error
        }
      },
      cancel: (reason) => {
        settle()
        return reader.cancel(reason)
      },
    },
    // No buffer: it would hide how long the reader has not asked for data.
    { highWaterMark: 0 },
  )
}
