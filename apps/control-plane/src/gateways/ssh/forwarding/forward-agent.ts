/** Makes the client's SSH agent reachable in the Dock (-A), over a socket that programs find in SSH_AUTH_SOCK. */
import type { Connection, ServerChannel } from 'ssh2'
import * as z from 'zod'
import type { SshConnection } from '../ssh-connection.ts'
import { joinChannel } from './join-channel.ts'

// ssh2 can open these channels, but only its client has a method for it. These parts are not in its types.
const [windowBytes, packetBytes] = [2 * 1024 * 1024, 32 * 1024]
type Opened = ((error: Error | undefined, channel: ServerChannel) => void) & { type?: string }
type Internals = {
  _chanMgr: { add(opened: Opened): number }
  _protocol: { openssh_authAgent(id: number, window: number, packet: number): void }
}
const internals = z.custom<Internals>((value) => {
  const { _chanMgr, _protocol } = value as Partial<Internals>
  return typeof _chanMgr?.add === 'function' && typeof _protocol?.openssh_authAgent === 'function'
}, 'ssh2 has changed: forward-agent.ts no longer fits it')

const openAgentChannel = (client: Connection, opened: Opened): void => {
  const { _chanMgr, _protocol } = internals.parse(client)
  const callback: Opened = (error, channel) => opened(error, channel)
  callback.type = 'auth-agent@openssh.com'
  const id = _chanMgr.add(callback)
  if (id >= 0) _protocol.openssh_authAgent(id, windowBytes, packetBytes)
}

/** Returns a function that returns the path of the socket, the same for all sessions, or null if it cannot be made. */
export function createAgentForwarding(connection: SshConnection): () => Promise<string | null> {
  let socket: Promise<string | null> | undefined
  const listen = async (): Promise<string | null> => {
    try {
      const forwarder = await connection.forwarder.start()
      const listener = await forwarder.listenAgent((stream) => {
        if (connection.isClosed()) return void stream.destroy()
        openAgentChannel(connection.client, (error, channel) => {
          if (error) stream.destroy()
          else joinChannel(connection, channel, stream, () => undefined)
        })
      })
      return listener.shown
    } catch (error) {
      connection.context.logger.debug({ err: error }, 'could not forward an agent')
      socket = undefined
      return null
    }
  }
  return () => {
    socket ??= listen()
    return socket
  }
}
