/** What to take back, in reverse, when a later step fails. */
import type { Logger } from '@dock/foundation'

export class UndoStack {
  readonly #steps: { name: string; undo: () => Promise<void> }[] = []
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** To be called before the step itself: each undo must be harmless when its step did nothing. */
  push(name: string, undo: () => Promise<void>): void {
    this.#steps.push({ name, undo })
  }

  /** Undoes every step, newest first. One that fails is logged and does not keep the others from being undone. */
  async unwind(): Promise<void> {
    for (const { name, undo } of this.#steps.splice(0).reverse()) {
      await undo().catch((error: unknown) => this.#logger.error({ err: error, step: name }, 'undo failed'))
    }
  }
}
