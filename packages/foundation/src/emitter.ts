/** Passes each event to the present listeners. */
export class Emitter<Event> {
  readonly #listeners = new Set<(event: Event) => void>()

  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** Adds a listener. Returns a function that removes it. */
  listen(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
