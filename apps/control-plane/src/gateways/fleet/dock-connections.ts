/**
 * Connections to Docks as CONNECT streams on the bulk link, so that their traffic delays no heartbeat and no command. The
 * bytes of ports and processes go beside the link if the agent can dial back.
 */

import type { Duplex } from 'node:stream'
import { newUuid, type Precedence } from '@dock/foundation'
import {
  type AgentLink,
  bindArrived,
  type ConnectOptions,
  callAgent,
  type DialBackDoor,
  encodeMessage,
  type LinkChannel,
  LinkTimeout,
  openProcess,
  signalProcess,
  terminalSize,
} from '@dock/host-protocol'
import * as z from 'zod'
import type { HostConnections, RemoteProcess } from '../../modules/hosts/index.ts'
import { createRemoteProcess } from './remote-process.ts'

const openTimeoutMs = 30_000
const controlTimeoutMs = 10_000

/** `link` returns the host's link of a channel, or throws HostNotLinked. */
export function createDockConnections(
  link: (hostId: string, channel: LinkChannel) => AgentLink,
  dialBacks: DialBackDoor,
  precedence: Precedence,
): HostConnections {
  const connect = async (
    hostId: string,
    path: string,
    query: Record<string, number>,
    more: Pick<ConnectOptions, 'ticket' | 'first'> = {},
  ) => {
    const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    const waiting = new AbortController()
    const timer = setTimeout(() => waiting.abort(new LinkTimeout(openTimeoutMs)), openTimeoutMs)
    const options = { ...more, signal: waiting.signal }
    const connected = link(hostId, 'bulk').connect(`${path}?${search.join('&')}`, options)
    return connected.finally(() => clearTimeout(timer))
  }

  /** Like {@link connect}. The agent may dial back, and the bytes then bypass the link. */
  const connectApart = async (
    ...[hostId, path, query, more]: Parameters<typeof connect>
  ): Promise<Duplex> => {
    const expected = dialBacks.expect()
    try {
      const asked = await connect(hostId, path, query, { ...more, ticket: expected.ticket })
      if (!expected.socket) return asked
      bindArrived(expected.socket, asked)
      return expected.socket
    } catch (error) {
      expected.socket?.destroy()
      throw error
    } finally {
      expected.forget()
    }
  }

  return {
    openProcess: async (hostId, dockId, { env = {}, waitsForOutputs, ...request }) => {
      const id = newUuid()
      const path = `/docks/${dockId}/processes/${id}`
      const message = openProcess.parse({ ...request, env })
      const first = encodeMessage(Buffer.from(JSON.stringify(message)))
      const socket = await connectApart(hostId, path, waitsForOutputs ? { waitsForOutputs: 1 } : {}, {
        first,
      })
      const post = async <Body extends z.ZodType>(verb: string, schema: Body, body: z.input<Body>) => {
        const options = { timeoutMs: controlTimeoutMs }
        const answer = z.looseObject({})
        await callAgent(link(hostId, 'bulk'), `${path}/${verb}`, schema, answer, body, options)
      }
      const calls: Pick<RemoteProcess, 'resize' | 'signal'> = {
        resize: (size) => post('resize', terminalSize, size),
        signal: (signal) => post('signal', signalProcess, { signal }),
      }
      return createRemoteProcess(id, socket, calls, precedence)
    },
    connectGit: (hostId, dockId, connectionId) => connect(hostId, `/docks/${dockId}/git/${connectionId}`, {}),
    connectPort: (hostId, dockId, port, generation) =>
      connectApart(hostId, `/docks/${dockId}/ports/${port}`, { generation }),
  }
}
