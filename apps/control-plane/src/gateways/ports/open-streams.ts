/** The open streams of clients by label, so that they can be closed when the label ends. */
import type { Writable } from 'node:stream'

export class OpenStreams {
  readonly #byLabel = new Map<string, Set<Writable>>()

  get labels(): string[] {
    return [...this.#byLabel.keys()]
  }

  /** Tracks the stream until it closes. */
  track(label: string, stream: Writable): void {
    const streams = this.#byLabel.get(label) ?? new Set()
    this.#byLabel.set(label, streams.add(stream))
    stream.once('close', () => {
      streams.delete(stream)
      if (streams.size === 0) this.#byLabel.delete(label)
    })
  }

  /** Closes all streams of the label. */
  closeAll(label: string): void {
    for (const stream of this.#byLabel.get(label) ?? []) stream.destroy()
  }
}
