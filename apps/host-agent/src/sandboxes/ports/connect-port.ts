/** Connects to a server inside a Dock, whether it listens on the Dock's address or only on its loopback. */
import type { Socket } from 'node:net'
import { finished } from 'node:stream'
import type { ConnectPort } from '@dock/host-protocol'
import { AgentRefusal } from '../agent-refusal.ts'
import type { DockState } from '../dock-state.ts'
import { openSocket } from './open-socket.ts'

/** Keeps the sandbox in use until the connection closes. Throws `not_found` if nothing listens on the port. */
export async function connectPort(
  dock: DockState,
  port: number,
  { generation }: ConnectPort,
): Promise<Socket> {
  const { sandbox, release } = await dock.use(generation)
  try {
    const address = dock.record?.ip
    if (!address) throw new AgentRefusal('not_running', 'the Dock has no IP address')
    const socket = (await openSocket(address, port)) ?? (await dock.relay.connect(sandbox, address, port))
    if (!socket) throw new AgentRefusal('not_found', `nothing listens on port ${port}`)
    // Also calls `release` if the socket has closed already.
    finished(socket, release)
    return socket
  } catch (error) {
    release()
    throw error
  }
}
