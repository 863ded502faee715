/**
 * Boots that somebody waits for, in turns: a few at once, in order of arrival, because more at once are slower for all.
 * What the agent boots for itself begins only while it is calm and takes no turn: it has an eighth of the processors'
 * usual share, and nobody's boot waits for that.
 */
export class BootTurns {
  readonly #atOnceMax: number
  readonly #waiting: (() => void)[] = []
  readonly #calmed = new Set<() => void>()
  #booting = 0

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** Whether nobody's boot is under way or waiting. */
  get isCalm(): boolean {
    return this.#booting === 0 && this.#waiting.length === 0
  }

  /** Calls back each time it has become calm, until the answer is called. */
  onCalm(listener: () => void): () => void {
    this.#calmed.add(listener)
    return () => this.#calmed.delete(listener)
  }

  /** Runs a boot when its turn has come. */
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
        // Counted here, so that nobody slips in before it runs.
        this.#booting += 1
        first()
      }
    }
    if (this.isCalm) for (const listener of this.#calmed) listener()
  }
}
