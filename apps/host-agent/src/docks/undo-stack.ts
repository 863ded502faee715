/** Undo actions of the steps so far, run in reverse order when a later step fails. */
import type { Logger } from '@dock/foundation'

export class UndoStack {
  readonly #steps: { name: string; undo: () => Promise<void> }[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Call this before the step itself. The undo must be harmless if its step did nothing. */
  push(name: string, undo: () => Promise<void>): void {
    this.#steps.push({ name, undo })
  }

  /** Undoes every step, newest first. Logs an undo that fails and continues with the others. */
  async unwind(): Promise<void> {
    for (const { name, undo } of this.#steps.splice(0).reverse()) {
      await undo().catch((error: unknown) => this.#logger.error({ err: error, step: name }, 'undo failed'))
    }
  }
}
