/**
 * Node's HTTP client towards Docks: its connections are streams over the links to hosts, kept for a moment so that many
 * small requests share few.
 */
import { Agent, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import type { PortRoute } from '../../modules/ports/index.ts'
import type { ConnectionCounts } from './connection-counts.ts'

/** A Dock in use is not frozen, so an idle connection is not kept for long. */
const idleMs = 2_000

type Place = { hostId: string; dockId: string; generation: number }
export type Connect = (place: Place, port: number) => Promise<Duplex>

/** A route's Dock as a host name, which the client keeps its connections apart by. */
export function hostOf({ dockId, generation }: PortRoute, hostId: string): string {
  return `${dockId}.${generation}.${hostId}`
}

const placeOf = (host: string): Place => {
  const [dockId = '', generation, hostId = ''] = host.split('.')
  return { dockId, generation: Number(generation), hostId }
}

export class DockAgent extends Agent {
  readonly #connect: Connect
  readonly #counts: ConnectionCounts
  readonly #streams = new Set<Duplex>()

  /** `keeps` false: each request gets a connection of its own. */
  constructor(connect: Connect, counts: ConnectionCounts, keeps = true) {
    // Without `maxSockets`, beyond which requests would wait without end: the counts bound what is dialled.
    super({ keepAlive: keeps, timeout: idleMs, maxFreeSockets: 32 })
    this.#connect = connect
    this.#counts = counts
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
    const release = this.#counts.take(place.dockId, port)
    try {
      const stream = await this.#connect(place, port)
      this.#streams.add(stream)
      // As a socket's client does: what its program has ended carries no further request.
      stream.once('end', () => (stream.writableLength === 0 ? stream.destroy() : stream.end()))
      stream.once('close', () => {
        this.#streams.delete(stream)
        release()
      })
      return stream
    } catch (error) {
      release()
      throw error
    }
  }
}
