/** Limits the connections to a Dock and to each of its ports. Connections that are being opened count too. */

const openPerPortMax = 256
const openPerDockMax = 512

/** The Dock or its port has reached the limit of connections. */
export class TooManyConnections extends Error {
  override readonly name = 'TooManyConnections'
}

export class ConnectionCounts {
  /** Connections by `dockId`, and by `dockId:port`. */
  readonly #open = new Map<string, number>()

  /** Counts a connection until the returned function is called. Throws {@link TooManyConnections}. */
  take(dockId: string, port: number): () => void {
    const ofPort = `${dockId}:${port}`
    if (this.#of(ofPort) >= openPerPortMax) throw new TooManyConnections(`Dock ${dockId}, port ${port}`)
    if (this.#of(dockId) >= openPerDockMax) throw new TooManyConnections(`Dock ${dockId}`)
    const count = (by: 1 | -1): void => {
      this.#count(ofPort, by)
      this.#count(dockId, by)
    }
    count(1)
    return () => count(-1)
  }

  #of(key: string): number {
    return this.#open.get(key) ?? 0
  }

  #count(key: string, by: 1 | -1): void {
    const open = this.#of(key) + by
    if (open > 0) this.#open.set(key, open)
    else this.#open.delete(key)
  }
}
