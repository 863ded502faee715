/** What the agent tells without being asked, to whoever listens at that moment. */
import type { HostEvent } from '@dock/host-protocol'

export type DockDied = Extract<HostEvent, { type: 'dock.died' }>

export class DockEvents {
  readonly #listeners = new Set<(event: DockDied) => void>()

  emit(event: DockDied): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** Listens until the answer is called. */
  listen(listener: (event: DockDied) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
