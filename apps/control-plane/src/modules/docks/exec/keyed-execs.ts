/**
 * The commands with an idempotency key of this process, from the request until their outcome is saved. A repeated
 * request gets the outcome from here, so no caller waits for the save. If the process dies before the save, a repeated
 * request gets `exec_result_expired`, as for an outcome that is not kept.
 */
import type { Clock } from '@dock/foundation'
import type { ExecOutcome } from '../../hosts/index.ts'

/** Time between an outcome and its save, so that the save does not slow the caller's next request. */
const saveAfterMs = 100

export type Ended = {
  outcome: ExecOutcome
  /** Saves the outcome and never rejects; null if there is nothing to save. */
  save: (() => Promise<void>) | null
}

export class KeyedExecs {
  readonly #clock: Clock
  readonly #outcomes = new Map<string, Promise<ExecOutcome>>()
  /** Each begins a save that waits for its time. */
  readonly #waiting = new Set<() => void>()
  readonly #saves = new Set<Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns the outcome of the command with this name, if it runs or is not saved yet. */
  find(name: string): Promise<ExecOutcome> | undefined {
    return this.#outcomes.get(name)
  }

  /** Runs a command under this name, unless one is known. Returns its outcome before that is saved. */
  run(name: string, work: () => Promise<Ended>): Promise<ExecOutcome> {
    const known = this.#outcomes.get(name)
    if (known) return known
    const outcome = work().then(
      (ended) => {
        if (ended.save) this.#saveLater(name, ended.save)
        else this.#outcomes.delete(name)
        return ended.outcome
      },
      (error: unknown) => {
        this.#outcomes.delete(name)
        throw error
      },
    )
    this.#outcomes.set(name, outcome)
    return outcome
  }

  /** Saves all outcomes that wait. Resolves once they are saved. */
  async saveAll(): Promise<void> {
    for (const begin of this.#waiting) begin()
    await Promise.all(this.#saves)
  }

  #saveLater(name: string, save: () => Promise<void>): void {
    const begin = (): void => {
      cancel()
      this.#waiting.delete(begin)
      const saved = save().finally(() => {
        this.#saves.delete(saved)
        this.#outcomes.delete(name)
      })
      this.#saves.add(saved)
    }
    const cancel = this.#clock.after(saveAfterMs, begin)
    this.#waiting.add(begin)
  }
}
