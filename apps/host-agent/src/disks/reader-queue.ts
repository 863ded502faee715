/** Limits how much work runs at the same time. Refuses work if too many wait already, or if it waits too long. */
import { type Clock, systemClock } from '@dock/foundation'

export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

export type QueueOptions = { atOnce: number; waitingMax: number; waitMs: number }

export class ReaderQueue {
  readonly #options: QueueOptions
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #underWay = 0

  constructor(options: QueueOptions, clock = systemClock) {
    this.#options = options
    this.#clock = clock
  }

  /** Resolves when a slot is free, with a function that frees it again. Throws {@link QueueFull}. */
  async take(): Promise<() => void> {
    if (this.#underWay < this.#options.atOnce) this.#underWay += 1
    else await this.#wait()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = this.#waiting.shift()
      if (next) next()
      else this.#underWay -= 1
    }
  }

  /** Waits for a slot. The previous holder hands its slot over, so `#underWay` does not change. */
  #wait(): Promise<void> {
    const refusal = () => new QueueFull('too many Snapshot files are being read on this host; retry later')
    if (this.#waiting.length >= this.#options.waitingMax) return Promise.reject(refusal())
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        cancel()
        resolve()
      }
      const cancel = this.#clock.after(this.#options.waitMs, () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(refusal())
      })
      this.#waiting.push(begin)
    })
  }
}
