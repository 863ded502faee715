/**
 * Node's HTTP client towards Docks: its connections are streams over the links to hosts, kept for a moment so that many
 * small requests share few. Their number is bounded for each Dock.
 */
import { Agent, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import type { PortRoute } from '../../modules/ports/index.ts'

/** A Dock in use is not frozen, so an idle connection is not kept for long. */
const idleMs = 2_000
const openPerPortMax = 256
const openPerDockMax = 512

/** The Dock has as many connections as it may have. */
export class TooManyConnections extends Error {
  override readonly name = 'TooManyConnections'
}

type Place = { hostId: string; dockId: string; generation: number }
export type Connect = (place: Place, port: number) => Promise<Duplex>

/** A route's Dock as a host name, which the client keeps its connections apart by. */
export const hostOf = ({ dockId, generation }: PortRoute, hostId: string): string =>
  `${dockId}.${generation}.${hostId}`

const placeOf = (host: string): Place => {
  const [dockId = '', generation, hostId = ''] = host.split('.')
  return { dockId, generation: Number(generation), hostId }
}

export class DockAgent extends Agent {
  readonly #connect: Connect
  /** Connections by Dock, those that are being made included. */
  readonly #counts = new Map<string, number>()
  readonly #streams = new Set<Duplex>()

  /** `keeps` false: each request gets a connection of its own. */
  constructor(connect: Connect, keeps = true) {
    super({ keepAlive: keeps, timeout: idleMs, maxSockets: openPerPortMax, maxFreeSockets: 32 })
    this.#connect = connect
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): null {
    this.#dial(placeOf(String(options.host)), Number(options.port)).then(
      (stream) => callback?.(null, stream),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    )
    return null
  }

  /** Cuts every connection, also those that an upgrade took out of the agent's hands. */
  override destroy(): void {
    for (const stream of this.#streams) stream.destroy()
    super.destroy()
  }

  async #dial(place: Place, port: number): Promise<Duplex> {
    const { dockId } = place
    if ((this.#counts.get(dockId) ?? 0) >= openPerDockMax) throw new TooManyConnections(`Dock ${dockId}`)
    this.#count(dockId, 1)
    try {
      const stream = await this.#connect(place, port)
      this.#streams.add(stream)
      // As a socket's client does: what its program has ended carries no further request.
      stream.once('end', () => (stream.writableLength === 0 ? stream.destroy() : stream.end()))
      stream.once('close', () => {
        this.#streams.delete(stream)
        this.#count(dockId, -1)
      })
      return stream
    } catch (error) {
      this.#count(dockId, -1)
      throw error
    }
  }

  #count(dockId: string, by: 1 | -1): void {
    const open = (this.#counts.get(dockId) ?? 0) + by
    if (open > 0) this.#counts.set(dockId, open)
    else this.#counts.delete(dockId)
  }
}
