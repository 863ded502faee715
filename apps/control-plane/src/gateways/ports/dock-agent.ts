/**
 * An HTTP agent for Node's client whose connections are streams to Docks over the links to hosts. It keeps idle
 * connections briefly, so that many small requests share a few.
 */
import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'
import type { PortRoute } from '../../modules/ports/index.ts'
import type { ConnectionCounts } from './connection-counts.ts'

/** Short, because a Dock with an open connection counts as used and is not frozen. */
const idleMs = 2_000

/** Limit of all headers of a response. Node's own is 16 KiB, less than many servers in front of programs allow. */
const { headerBytesMax } = limits.http

/** A method of Node's agents that its types do not declare. */
const addRequestOfNode = Reflect.get(Agent.prototype, 'addRequest') as (
  this: Agent,
  request: ClientRequest,
  options: ClientRequestArgs,
) => void

type Place = { hostId: string; dockId: string; generation: number }
export type Connect = (place: Place, port: number) => Promise<Duplex>

/** Encodes a route's Dock as a host name. The agent pools connections by host name. */
export function hostOf(
  { dockId, generation }: Pick<PortRoute, 'dockId' | 'generation'>,
  hostId: string,
): string {
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

  /** With `keepAlive` false, each request uses a new connection. */
  constructor(connect: Connect, counts: ConnectionCounts, keepAlive = true) {
    // No `maxSockets`: requests beyond it would wait forever. ConnectionCounts limits the connections instead.
    super({ keepAlive, timeout: idleMs, maxFreeSockets: 32 })
    this.#connect = connect
    this.#counts = counts
  }

  /** Node calls this for each new request. It sets how long the headers of the response may be. */
  addRequest(request: ClientRequest, options: ClientRequestArgs): void {
    Object.assign(request, { maxHeaderSize: headerBytesMax })
    addRequestOfNode.call(this, request, options)
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

  /** Closes every connection, including upgraded ones, which the agent no longer tracks. */
  override destroy(): void {
    for (const stream of this.#streams) stream.destroy()
    super.destroy()
  }

  async #dial(place: Place, port: number): Promise<Duplex> {
    const release = this.#counts.take(place.dockId, port)
    try {
      const stream = await this.#connect(place, port)
      this.#streams.add(stream)
      // The program has closed its side, so the connection can carry no further request.
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
