/** A time in which the warm pool makes nothing. Begun again, it lasts from then on. */
import type { Clock } from '@dock/foundation'

export class Rest {
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
