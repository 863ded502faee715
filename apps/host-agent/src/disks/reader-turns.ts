/** Turns for work of which a host does only a little at once. Who comes when too many wait, or waits too long, is refused. */
import { type Clock, systemClock } from '@dock/foundation'

export class TooManyWait extends Error {
  override readonly name = 'TooManyWait'
}

export type TurnsOptions = { atOnce: number; waitingMax: number; waitMs: number }

export class ReaderTurns {
  readonly #options: TurnsOptions
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #underWay = 0

  constructor(options: TurnsOptions, clock = systemClock) {
    this.#options = options
    this.#clock = clock
  }

  /** Resolves when it is this one's turn, with what ends the turn. Throws {@link TooManyWait}. */
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

  /** The turn is handed over by the one that ends: it stays counted. */
  #wait(): Promise<void> {
    const refusal = () => new TooManyWait('too many files of Snapshots are being read on this host')
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
