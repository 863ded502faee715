/** A pause in which the warm pool boots nothing. Starting it again restarts its time. */
import type { Clock } from '@dock/foundation'

export class Pause {
  readonly #clock: Clock
  readonly #onEnd: () => void
  #isOn = false
  #cancel = (): void => undefined

  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock
    this.#onEnd = onEnd
  }

  get isOn(): boolean {
    return this.#isOn
  }

  begin(ms: number): void {
    this.#cancel()
    this.#isOn = true
    this.#cancel = this.#clock.after(ms, () => {
      this.#isOn = false
      this.#onEnd()
    })
  }
}
