/** Cuts off readers that take too little, so that nobody keeps a read open for hours. */
import { limits } from '@dock/contract'
import { type Clock, systemClock } from '@dock/foundation'
import type { HostReading } from './open-readings.ts'

const { stallSecondsMax, bytesPerSecondMin } = limits.snapshotReadings

export type ReaderPace<T> = {
  bytesOf(piece: NoInfer<T>): number
  /** Longest time without a read, in milliseconds, after which the reader is cut off. */
  stallMs?: number
  /** Minimum average rate in bytes per second, below which the reader is cut off. */
  bytesPerSecond?: number
  clock?: Clock
  /** The place that the read takes. It learns the rate of the read, and may end it in favour of another. */
  place?: HostReading | undefined
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
    place,
  }: ReaderPace<T>,
): ReadableStream<T> {
  const reader = source.getReader()
  let timeLeftMs = stallMs
  let waitingSince = 0
  let stopWaiting = (): void => undefined
  let isOver = false
  const settle = (): void => {
    isOver = true
    stopWaiting()
    end()
  }
  const cutOff = (controller: ReadableStreamDefaultController<T>, why: string): void => {
    const error = new Error(why)
    settle()
    controller.error(error)
    reader.cancel(error).catch(() => undefined)
  }
  const awaitReader = (controller: ReadableStreamDefaultController<T>): void => {
    waitingSince = clock.now().getTime()
    stopWaiting = clock.after(timeLeftMs, () =>
      cutOff(controller, 'the reader stopped reading or is too slow'),
    )
  }
  return new ReadableStream<T>(
    {
      start: (controller) => {
        place?.allowDisplacement(() => cutOff(controller, 'the read was stopped for another organization'))
        awaitReader(controller)
      },
      pull: async (controller) => {
        stopWaiting()
        timeLeftMs -= clock.now().getTime() - waitingSince
        try {
          const { done, value } = await reader.read()
          if (done) {
            if (isOver) return
            settle()
            controller.close()
            return
          }
          // Another organization may have taken the place while the source was waited for.
          if (isOver) return
          const bytes = bytesOf(value)
          place?.took(bytes)
          timeLeftMs = Math.min(stallMs, timeLeftMs + (bytes / bytesPerSecond) * 1000)
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
