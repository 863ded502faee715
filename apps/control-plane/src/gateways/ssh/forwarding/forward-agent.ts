/** Makes the client's SSH agent reachable in the Dock (-A), over a socket that programs find in SSH_AUTH_SOCK. */
import type { SshConnection } from '../ssh-connection.ts'
import { joinIfOpened } from './join-channel.ts'

/** Returns a function that returns the path of the socket, the same for all sessions, or null if it cannot be made. */
export function createAgentForwarding(connection: SshConnection): () => Promise<string | null> {
  let socket: Promise<string | null> | undefined
  const listen = async (): Promise<string | null> => {
    try {
      const forwarder = await connection.forwarder.start()
      const listener = await forwarder.listenAgent((stream) => {
        if (connection.isClosed()) return void stream.destroy()
        connection.client.openAgentChannel((channel) => joinIfOpened(connection, channel, stream))
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
