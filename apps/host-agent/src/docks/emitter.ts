/** Tells whoever listens at that moment. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>()

  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** Listens until the answer is called. */
  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
