/**
 * What is being read of Snapshots, by person and by host, in this process. Each reading is a process on the host until
 * its reader is done, so that one person, or slow ones together, must not take all that a host has.
 */
import { limits, ServiceError } from '@dock/contract'

const { openPerUserMax, openPerHostMax, stallSecondsMax } = limits.snapshotReadings

export type OpenReadings = {
  /** Counts one of the person's, until the returned function is called. Throws `rate_limited` when it is one too many. */
  ofUser(userId: string): () => void
  /** The same of a host's. */
  ofHost(hostId: string): () => void
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

export const createOpenReadings = (): OpenReadings => ({
  ofUser: createCounts(
    openPerUserMax,
    `You read ${openPerUserMax} files or lists of Snapshots at once. Wait until one ends and try again.`,
  ),
  ofHost: createCounts(
    openPerHostMax,
    'Many files are being read from the host of this Snapshot. Wait a moment and try again.',
  ),
})

/**
 * The same stream, which calls `end` once it was read, failed or was given up. A reader who asks for nothing more for
 * `stallMs` is cut off; the time that the source takes does not count.
 */
export const untilRead = <T>(
  source: ReadableStream<T>,
  end: () => void,
  stallMs = stallSecondsMax * 1000,
): ReadableStream<T> => {
  const reader = source.getReader()
  let stalled: NodeJS.Timeout | undefined
  const settle = (): void => {
    clearTimeout(stalled)
    end()
  }
  const awaitReader = (controller: ReadableStreamDefaultController<T>): void => {
    stalled = setTimeout(() => {
      const error = new Error('the reader takes nothing any more')
      settle()
      controller.error(error)
      reader.cancel(error).catch(() => undefined)
    }, stallMs)
    stalled.unref()
  }
  return new ReadableStream<T>(
    {
      start: awaitReader,
      pull: async (controller) => {
        clearTimeout(stalled)
        try {
          const { done, value } = await reader.read()
          if (done) {
            settle()
            controller.close()
            return
          }
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
