/**
 * Short work that somebody waits for goes before streams of bytes that nobody does: while it lasts, large streams stand
 * back, but for at most four fifths of the time.
 */
import type { Readable, Writable } from 'node:stream'

/** How long large streams stand back in one piece. */
const standBackMsMax = 40
/** Milliseconds of standing back that each millisecond of going on is good for. */
const creditPerMs = 4
/** What a stream carries without being a large one, and how soon that is forgotten. */
const smallBytes = 1024 * 1024
const forgottenBytesPerMs = 8 * 1024

export class Precedence {
  readonly #waiting = new Set<() => void>()
  #works = 0
  #creditMs = standBackMsMax
  /** When large streams began to go on, or to stand back. */
  #since = performance.now()
  #end: NodeJS.Timeout | undefined

  /** Whether large streams stand back now. */
  get isTaken(): boolean {
    return this.#end !== undefined
  }

  /** Calls back once, when large streams go on again. */
  whenFree(callback: () => void): void {
    this.#waiting.add(callback)
  }

  /** Takes it for a work that begins, as long as there is credit. The answer tells the work's end. */
  take(): () => void {
    this.#works += 1
    if (!this.isTaken) this.#begin()
    return () => {
      this.#works -= 1
      if (this.#works === 0 && this.isTaken) this.#free()
    }
  }

  #begin(): void {
    const now = performance.now()
    this.#creditMs = Math.min(standBackMsMax, this.#creditMs + (now - this.#since) * creditPerMs)
    if (this.#creditMs < 1) return
    this.#since = now
    this.#end = setTimeout(() => this.#free(), this.#creditMs)
  }

  #free(): void {
    clearTimeout(this.#end)
    this.#end = undefined
    const now = performance.now()
    this.#creditMs -= now - this.#since
    this.#since = now
    for (const callback of this.#waiting) {
      this.#waiting.delete(callback)
      callback()
    }
  }
}

/** Lets a stream stand back while it is a large one. It is to be piped in the same tick, to `to`. */
export const standBack = (from: Readable, to: Writable, precedence: Precedence): void => {
  let recentBytes = 0
  let at = performance.now()
  // Until its drain, the pipe itself holds back.
  const goOn = (): void => {
    if (precedence.isTaken) precedence.whenFree(goOn)
    else if (!to.writableNeedDrain) from.resume()
  }
  /** At most a chunk in each turn of the event loop, and none while others have precedence. */
  const giveWay = (): void => {
    if (recentBytes <= smallBytes) return
    from.pause()
    setImmediate(goOn)
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
