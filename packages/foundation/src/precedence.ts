/**
 * Gives short work that a user waits for precedence over bulk streams on the CPU. For 250 ms after such work begins,
 * large streams are throttled.
 */
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { collectStreamed } from './collect-streamed.ts'

const takenMs = 250
const pollMs = 25
/** Pause between two chunks (64 KiB, as Node reads them) of a throttled stream: longer with fewer processors. */
const pauseMs = Math.floor(12 / availableParallelism())
/** A stream with more recent bytes than this is large. The count of recent bytes decays by `decayBytesPerMs`. */
const smallBytes = 1024 * 1024
const decayBytesPerMs = 8 * 1024

export class Precedence {
  readonly #nowMs: () => number
  #until = 0
  #underWay = 0

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Marks the beginning of short work: throttles large streams for 250 ms. */
  take(): void {
    this.#until = this.#nowMs() + takenMs
  }

  /** Holds precedence while `work` runs and for 250 ms afterwards, because the user continues with its result. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1
    try {
      return await work()
    } finally {
      this.#underWay -= 1
      this.take()
    }
  }

  /** True while large streams are throttled. */
  get isTaken(): boolean {
    return this.#underWay > 0 || this.#nowMs() < this.#until
  }

  /** Resolves when precedence is free, at the latest after `atMostMs`, so that bulk work never starves. */
  async waitUntilFree(atMostMs: number): Promise<void> {
    const giveUp = this.#nowMs() + atMostMs
    while (this.isTaken && this.#nowMs() < giveUp) await delay(pollMs)
  }
}

/** Throttles the pipe from `from` to `to` while the stream is large. The caller must call `pipe` in the same tick. */
export function throttleLargeStream(from: Readable, to: Writable, precedence: Precedence): void {
  // Until `drain`, the pipe itself keeps the source paused.
  const resume = throttleReading(from, precedence, () => !to.writableNeedDrain)
  // The pipe resumes the source at every drain, so pause it again afterwards.
  to.on('drain', () => process.nextTick(resume))
}

/**
 * Throttles the reading of `from` while the stream is large. The caller must listen to `data` in the same tick, and pause
 * `from` while there is no room for more. Returns a function to call when there may be room again: it resumes `from`, at
 * once or later, if `hasRoom` returns true.
 */
export function throttleReading(from: Readable, precedence: Precedence, hasRoom: () => boolean): () => void {
  let recentBytes = 0
  let at = performance.now()
  let isWaiting = false
  const resume = (): void => {
    isWaiting = false
    if (hasRoom()) from.resume()
  }
  /** Allows at most one chunk per turn of the event loop, and fewer while precedence is taken. */
  const throttle = (): void => {
    from.pause()
    if (isWaiting) return
    isWaiting = true
    if (precedence.isTaken && pauseMs > 0) setTimeout(resume, pauseMs)
    else setImmediate(resume)
  }
  from.on('data', (chunk: Buffer) => {
    const now = performance.now()
    recentBytes = Math.max(0, recentBytes - (now - at) * decayBytesPerMs) + chunk.length
    at = now
    collectStreamed(chunk.length)
    if (recentBytes > smallBytes) throttle()
  })
  return () => {
    if (recentBytes > smallBytes) throttle()
    else if (hasRoom()) from.resume()
  }
}
