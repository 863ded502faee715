/**
 * Short work that somebody waits for goes before streams of bytes that nobody does: for a moment after it began, large
 * streams go slowly, so that the processors have room for it.
 */
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'

const slowMs = 250
/** Between two chunks (64 KiB, as Node reads them) of a stream that goes slowly: the fewer processors, the longer. */
const pauseMs = Math.floor(12 / availableParallelism())
/** What a stream carries without being a large one, and how soon that is forgotten. */
const smallBytes = 1024 * 1024
const forgottenBytesPerMs = 8 * 1024

export class Precedence {
  readonly #nowMs: () => number
  #until = 0

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** A short work begins. */
  take(): void {
    this.#until = this.#nowMs() + slowMs
  }

  /** Whether large streams go slowly now. */
  get isTaken(): boolean {
    return this.#nowMs() < this.#until
  }
}

/** Lets a stream stand back while it is a large one. It is to be piped in the same tick, to `to`. */
export const standBack = (from: Readable, to: Writable, precedence: Precedence): void => {
  let recentBytes = 0
  let at = performance.now()
  // Until its drain, the pipe itself holds back.
  const goOn = (): void => {
    if (!to.writableNeedDrain) from.resume()
  }
  /** At most a chunk in each turn of the event loop. */
  const giveWay = (): void => {
    if (recentBytes <= smallBytes) return
    from.pause()
    if (precedence.isTaken && pauseMs > 0) setTimeout(goOn, pauseMs)
    else setImmediate(goOn)
  }
  from.on('data', (chunk: Buffer) => {
    const now = performance.now()
    recentBytes = Math.max(0, recentBytes - (now - at) * forgottenBytesPerMs) + chunk.length
    at = now
    giveWay()
  })
  // A pipe goes on at every drain.
  to.on('drain', () => process.nextTick(giveWay))
}
