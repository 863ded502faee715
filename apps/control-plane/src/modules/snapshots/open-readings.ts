/**
 * What is being read of Snapshots, by person and by host, in this process. Each reading is a process on the host until
 * its reader is done, so that one person, or slow ones together, must not take all that a host has.
 */
import { limits, ServiceError } from '@dock/contract'

const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax, stallSecondsMax, bytesPerSecondMin } =
  limits.snapshotReadings

export type OpenReadings = {
  /** Counts one of the person's, until the returned function is called. Throws `rate_limited` when it is one too many. */
  ofUser(userId: string): () => void
  /** The same of a host's, and of what one organization reads from it. */
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
    'Many files are being read from the host of this Snapshot. Wait a moment and try again.',
  )
  const ofOrganization = createCounts(
    openPerHostAndOrganizationMax,
    `The organization reads ${openPerHostAndOrganizationMax} files or lists from the host of this Snapshot at once. Wait until one ends and try again.`,
  )
  return {
    ofUser: createCounts(
      openPerUserMax,
      `You read ${openPerUserMax} files or lists of Snapshots at once. Wait until one ends and try again.`,
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
  /** The reader is cut off who asks for nothing more for so long… */
  stallMs?: number
  /** …or who takes fewer bytes a second on the whole. */
  bytesPerSecond?: number
}

/**
 * The same stream, which calls `end` once it was read, failed or was given up. A reader has time, at most `stallMs`: what
 * they take adds to it, by its size, and what they let pass takes from it. Without any left they are cut off. The time
 * that the source takes does not count.
 */
export function untilRead<T>(
  source: ReadableStream<T>,
  end: () => void,
  { bytesOf, stallMs = stallSecondsMax * 1000, bytesPerSecond = bytesPerSecondMin }: ReaderPace<T>,
): ReadableStream<T> {
  const reader = source.getReader()
  let timeLeftMs = stallMs
  let waitingSince = 0
  let late: NodeJS.Timeout | undefined
  const settle = (): void => {
    clearTimeout(late)
    end()
  }
  const awaitReader = (controller: ReadableStreamDefaultController<T>): void => {
    waitingSince = performance.now()
    late = setTimeout(() => {
      const error = new Error('the reader takes nothing any more, or too little')
      settle()
      controller.error(error)
      reader.cancel(error).catch(() => undefined)
    }, timeLeftMs)
    late.unref()
  }
  return new ReadableStream<T>(
    {
      start: awaitReader,
      pull: async (controller) => {
        clearTimeout(late)
        timeLeftMs -= performance.now() - waitingSince
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
    // Only what the reader asks for: a buffer would hide for how long nobody has.
    { highWaterMark: 0 },
  )
}
