/** Listens in the Dock on behalf of the client (-R), and opens a channel to it for each connection that arrives there. */
import type { Duplex } from 'node:stream'
import type { ChannelOpened, ForwardAddress, RequestHandlers, TcpAddress } from '@dock/ssh-server'
import type { SshConnection } from '../ssh-connection.ts'
import { type Forwarder, type Listener, type Peer, portOf } from './forwarder.ts'
import { joinIfOpened } from './join-channel.ts'

/** As sshd does: an empty address means all, and `localhost` the loopback address. */
const bindAddress = (address: string): string =>
  address === '' || address === '*' ? '0.0.0.0' : address === 'localhost' ? '127.0.0.1' : address

/** The name under which the client may stop a listener again. */
const nameOf = (address: ForwardAddress): string =>
  'path' in address ? address.path : `${address.host} ${address.port}`

/** Returns the handlers that begin and stop to listen. */
export function createListeners(
  connection: SshConnection,
): Pick<RequestHandlers, 'listen' | 'stopListening'> {
  const { client, beginningToListen } = connection
  const listeners = new Map<string, Listener>()

  const joinTo =
    (open: (peer: Peer, opened: ChannelOpened) => void) =>
    (stream: Duplex, peer: Peer): void => {
      if (connection.isClosed()) return void stream.destroy()
      open(peer, (channel) => joinIfOpened(connection, channel, stream))
    }
  const listenTcp = async (forwarder: Forwarder, { host, port }: TcpAddress): Promise<Listener> => {
    // The client recognizes a connection by the address that it asked for and the port that was chosen.
    const shownAt = { host, port }
    const onAccepted = joinTo((peer, opened) => client.openTcpChannel(shownAt, peer, opened))
    const listener = await forwarder.listen(bindAddress(host), port, onAccepted)
    const shown = portOf(listener.shown)
    if (shown) {
      shownAt.port = shown
      return listener
    }
    listener.close()
    throw new Error('the program in the Dock names no port')
  }
  const beginToListen = async (address: ForwardAddress): Promise<number | undefined> => {
    try {
      const name = nameOf(address)
      if (listeners.has(name)) throw new Error('the client already listens there')
      const forwarder = await connection.forwarder.start()
      const listener = await ('path' in address
        ? forwarder.listenUnix(
            address.path,
            joinTo((_peer, opened) => client.openUnixChannel(address.path, opened)),
          )
        : listenTcp(forwarder, address))
      listeners.set(name, listener)
      return portOf(listener.shown)
    } catch (error) {
      connection.context.logger.debug({ err: error }, 'could not listen in a Dock')
      throw error
    }
  }
  return {
    listen: (address) => {
      const begun = beginToListen(address)
      const settled = begun.then(
        () => undefined,
        () => undefined,
      )
      beginningToListen.add(settled)
      void settled.then(() => beginningToListen.delete(settled))
      return begun
    },
    stopListening: (address) => {
      const name = nameOf(address)
      listeners.get(name)?.close()
      return listeners.delete(name)
    },
  }
}
