/**
 * Connections to Docks as CONNECT streams. They all use the bulk link, so that their traffic delays no heartbeat and no
 * command.
 */
import {
  type AgentLink,
  bindArrived,
  callAgent,
  type DialBackDoor,
  exitCodeTrailer,
  type LinkChannel,
  LinkTimeout,
  terminalSize,
} from '@dock/host-protocol'
import * as z from 'zod'
import type { HostConnections } from '../../modules/hosts/index.ts'
import { translateFailure } from './translate-failure.ts'

const openTimeoutMs = 30_000
const resizeTimeoutMs = 10_000

/** `link` returns the host's link of a channel, or throws HostNotLinked. */
export function createDockConnections(
  link: (hostId: string, channel: LinkChannel) => AgentLink,
  dialBacks: DialBackDoor,
): HostConnections {
  const connect = async (hostId: string, path: string, query: Record<string, number>, ticket?: string) => {
    const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
    const waiting = new AbortController()
    const timer = setTimeout(() => waiting.abort(new LinkTimeout(openTimeoutMs)), openTimeoutMs)
    const options = { signal: waiting.signal, ...(ticket === undefined ? {} : { ticket }) }
    const connected = link(hostId, 'bulk').connect(`${path}?${search.join('&')}`, options)
    return translateFailure(connected).finally(() => clearTimeout(timer))
  }

  return {
    openTerminal: async (hostId, dockId, { terminalId, ...query }) => {
      const stream = await connect(hostId, `/docks/${dockId}/terminals/${terminalId}`, query)
      return {
        stream,
        exitCode: () => {
          const code = z.coerce.number().int().safeParse(stream.trailers?.[exitCodeTrailer])
          return code.success ? code.data : null
        },
      }
    },
    resizeTerminal: async (hostId, dockId, terminalId, size) => {
      const path = `/docks/${dockId}/terminals/${terminalId}/resize`
      const options = { timeoutMs: resizeTimeoutMs }
      await translateFailure(
        callAgent(link(hostId, 'bulk'), path, terminalSize, z.looseObject({}), size, options),
      )
    },
    connectGit: (hostId, dockId, connectionId) => connect(hostId, `/docks/${dockId}/git/${connectionId}`, {}),
    connectPort: async (hostId, dockId, port, generation) => {
      const expected = dialBacks.expect()
      try {
        const asked = await connect(hostId, `/docks/${dockId}/ports/${port}`, { generation }, expected.ticket)
        if (!expected.socket) return asked
        bindArrived(expected.socket, asked)
        return expected.socket
      } catch (error) {
        expected.socket?.destroy()
        throw error
      } finally {
        expected.forget()
      }
    },
  }
}
