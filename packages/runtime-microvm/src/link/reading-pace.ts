/**
 * How fast guests are read. One process reads all guests of a host, so what one of them sends without end must leave time for
 * the others: guests that send much share a rate, and one that sends little never waits.
 */
import type { Duplex } from 'node:stream'

/** What all guests that send much have together, in bytes a second: a good half of a processor. */
const rateDefault = 64 * 2 ** 20
/** What a guest may send before it waits. */
const burstBytes = 8 * 2 ** 20
/** A frame costs the time of so many bytes. */
const frameBytes = 2_048
/** After so many frames, or after a read that filled its buffer, the other guests have their turn. */
const turnFrames = 256
const fullReadBytes = 65_536

export class ReadingPace {
  readonly #bytesPerMs: number
  #waiting = 0

  constructor(bytesPerSecond = rateDefault) {
    this.#bytesPerMs = bytesPerSecond / 1_000
  }

  /** Returns the share of one guest, which keeps it when it connects again. */
  newShare(): ReadingShare {
    return new ReadingShare(this)
  }

  /** Bytes a millisecond of a guest that is about to wait. */
  get rate(): number {
    return this.#bytesPerMs / (this.#waiting + 1)
  }

  /** Calls `proceed` after the time, or when the others had their turn. */
  wait(ms: number, proceed: () => void): void {
    if (ms <= 0) {
      setImmediate(proceed)
      return
    }
    this.#waiting += 1
    setTimeout(() => {
      this.#waiting -= 1
      proceed()
    }, ms)
  }
}

/** The pace of this process. */
export const readingPace = new ReadingPace()

export class ReadingShare {
  readonly #pace: ReadingPace
  #left = burstBytes
  #at = performance.now()

  constructor(pace: ReadingPace) {
    this.#pace = pace
  }

  /**
   * Gives the stream's bytes to `take`, which returns how many of them it took, and in how many frames. It must take at most
   * `framesMax` frames.
   */
  read(stream: Duplex, take: (chunk: Buffer, framesMax: number) => { bytes: number; frames: number }): void {
    let isWaiting = false
    stream.on('data', (chunk: Buffer) => {
      const { bytes, frames } = take(chunk, turnFrames)
      const waitMs = this.#charge(bytes + frames * frameBytes)
      const isAll = bytes === chunk.length && chunk.length < fullReadBytes
      if (stream.destroyed || (isAll && waitMs === 0)) return
      stream.pause()
      if (bytes < chunk.length) stream.unshift(chunk.subarray(bytes))
      if (isWaiting) return
      isWaiting = true
      this.#pace.wait(waitMs, () => {
        isWaiting = false
        stream.resume()
      })
    })
  }

  /** Returns the time to wait in milliseconds. */
  #charge(cost: number): number {
    const { rate } = this.#pace
    const now = performance.now()
    this.#left = Math.min(burstBytes, this.#left + (now - this.#at) * rate) - cost
    this.#at = now
    return this.#left >= 0 ? 0 : Math.ceil(-this.#left / rate)
  }
}
