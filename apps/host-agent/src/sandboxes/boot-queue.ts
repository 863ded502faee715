/**
 * Queue for boots that a caller waits for. Only a few run at the same time, in order of arrival, because more would make
 * all of them slower. Sandboxes for the warm pool do not use the queue: they start only while it is calm, and run with
 * 1/8 of the usual CPU weight, so that no caller waits for them.
 */
export class BootQueue {
  readonly #atOnceMax: number
  readonly #waiting: (() => void)[] = []
  readonly #calmed = new Set<() => void>()
  #booting = 0

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** True if no boot in the queue is running or waiting. */
  get isCalm(): boolean {
    return this.#booting === 0 && this.#waiting.length === 0
  }

  /** Calls `listener` each time the queue becomes calm. Returns a function that removes the listener. */
  onCalm(listener: () => void): () => void {
    this.#calmed.add(listener)
    return () => this.#calmed.delete(listener)
  }

  /** Runs `boot` when a slot is free. */
  async run<Answer>(boot: () => Promise<Answer>): Promise<Answer> {
    if (this.#booting >= this.#atOnceMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#booting += 1
    }
    try {
      return await boot()
    } finally {
      this.#booting -= 1
      this.#next()
    }
  }

  #next(): void {
    if (this.#booting < this.#atOnceMax) {
      const first = this.#waiting.shift()
      if (first) {
        // Take the slot here, so that no other boot gets it before `first` continues.
        this.#booting += 1
        first()
      }
    }
    if (this.isCalm) for (const listener of this.#calmed) listener()
  }
}
