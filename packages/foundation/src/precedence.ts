/**
 * Short work that somebody waits for goes before streams of bytes that nobody does: for a moment after it began, large
 * streams go slowly, so that the processors have room for it.
 */
import { availableParallelism } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

const slowMs = 250
const lookMs = 25
/** Between two chunks (64 KiB, as Node reads them) of a stream that goes slowly: the fewer processors, the longer. */
const pauseMs = Math.floor(12 / availableParallelism())
/** What a stream carries without being a large one, and how soon that is forgotten. */
const smallBytes = 1024 * 1024
const forgottenBytesPerMs = 8 * 1024

export class Precedence {
  readonly #nowMs: () => number
  #until = 0
  #underWay = 0

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** A short work begins. */
  take(): void {
    this.#until = this.#nowMs() + slowMs
  }

  /** A work that counts as short until it ends, and for a moment more: somebody goes on with what it made. */
  async during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#underWay += 1
    try {
      return await work()
    } finally {
      this.#underWay -= 1
      this.take()
    }
  }

  /** Whether large streams go slowly now. */
  get isTaken(): boolean {
    return this.#underWay > 0 || this.#nowMs() < this.#until
  }

  /** Resolves when it is not taken, after `atMostMs` in any case: nothing stands still for good. */
  async untilFree(atMostMs: number): Promise<void> {
    const giveUp = this.#nowMs() + atMostMs
    while (this.isTaken && this.#nowMs() < giveUp) await delay(lookMs)
  }
}

/** Lets a stream stand back while it is a large one. It is to be piped in the same tick, to `to`. */
export function standBack(from: Readable, to: Writable, precedence: Precedence): void {
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
