/** What clients have open by each label, so that it ends with the label. */
import type { Writable } from 'node:stream'

export class OpenStreams {
  readonly #byLabel = new Map<string, Set<Writable>>()

  get labels(): string[] {
    return [...this.#byLabel.keys()]
  }

  /** Until it closes. */
  hold(label: string, stream: Writable): void {
    const streams = this.#byLabel.get(label) ?? new Set()
    this.#byLabel.set(label, streams.add(stream))
    stream.once('close', () => {
      streams.delete(stream)
      if (streams.size === 0) this.#byLabel.delete(label)
    })
  }

  cut(label: string): void {
    for (const stream of this.#byLabel.get(label) ?? []) stream.destroy()
  }
}
