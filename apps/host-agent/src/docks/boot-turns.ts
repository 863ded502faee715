/**
 * Boots in turns: a few sandboxes boot at once, in order of arrival, because more at once are slower for all. What the
 * agent boots for itself comes last: only while nobody waits and nobody boots.
 */
export class BootTurns {
  readonly #atOnceMax: number
  readonly #waiting: (() => void)[] = []
  readonly #calmed = new Set<() => void>()
  #booting = 0
  #bootingLast = 0

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax
  }

  /** Whether nobody's boot is under way or waiting; the agent's own do not count. */
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
    if (this.#booting + this.#bootingLast >= this.#atOnceMax) {
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

  /** Runs a boot of the agent's own. The caller has seen that it is calm. */
  async runLast<Answer>(boot: () => Promise<Answer>): Promise<Answer> {
    this.#bootingLast += 1
    try {
      return await boot()
    } finally {
      this.#bootingLast -= 1
      this.#next()
    }
  }

  #next(): void {
    if (this.#booting + this.#bootingLast < this.#atOnceMax) {
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
