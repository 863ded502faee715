/** Listens in the Dock on behalf of the client (-R), and opens a channel to it for each connection that arrives there. */
import type { Duplex } from 'node:stream'
import type { ServerChannel, SocketBindInfo, TcpipBindInfo } from 'ssh2'
import type { SshConnection } from '../ssh-connection.ts'
import { type Forwarder, type Listener, type Peer, portOf } from './forwarder.ts'
import { joinChannel } from './join-channel.ts'

type Accept = ((chosenPort?: number) => void) | undefined
type Reject = (() => void) | undefined
type Opened = (error: Error | undefined, channel: ServerChannel) => void

/** As sshd does: an empty address means all, and `localhost` the loopback address. */
const bindAddress = (address: string): string =>
  address === '' || address === '*' ? '0.0.0.0' : address === 'localhost' ? '127.0.0.1' : address

export function serveRemoteForwards(connection: SshConnection): void {
  const { client } = connection
  const listeners = new Map<string, Listener>()

  const joinTo =
    (open: (peer: Peer, opened: Opened) => void) =>
    (stream: Duplex, peer: Peer): void => {
      if (connection.isClosed()) return void stream.destroy()
      open(peer, (error, channel) => {
        if (error) stream.destroy()
        else joinChannel(connection, channel, stream, () => undefined)
      })
    }
  const beginToListen = async (
    name: string,
    start: (forwarder: Forwarder) => Promise<Listener>,
    accept: Accept,
    reject: Reject,
  ): Promise<void> => {
    try {
      if (listeners.has(name)) throw new Error('the client already listens there')
      const listener = await start(await connection.forwarder.start())
      listeners.set(name, listener)
      accept?.(portOf(listener.shown))
    } catch (error) {
      connection.context.logger.debug({ err: error }, 'could not listen in a Dock')
      reject?.()
    }
  }
  const listen = (...begin: Parameters<typeof beginToListen>): void => {
    const { beginningToListen } = connection
    const begun = beginToListen(...begin).finally(() => beginningToListen.delete(begun))
    beginningToListen.add(begun)
  }
  const cancel = (name: string, accept: Accept, reject: Reject): void => {
    const listener = listeners.get(name)
    listener?.close()
    if (listeners.delete(name)) accept?.()
    else reject?.()
  }
  const listenTcp = ({ bindAddr, bindPort }: TcpipBindInfo, accept: Accept, reject: Reject): void => {
    // The client recognizes a connection by the address that it asked for and the port that was chosen.
    let port = bindPort
    const onAccepted = joinTo((peer, opened) =>
      client.forwardOut(bindAddr, port, peer.host, peer.port, opened),
    )
    const start = async (forwarder: Forwarder): Promise<Listener> => {
      const listener = await forwarder.listen(bindAddress(bindAddr), bindPort, onAccepted)
      const shown = portOf(listener.shown)
      if (shown) {
        port = shown
        return listener
      }
      listener.close()
      throw new Error('the program in the Dock names no port')
    }
    listen(`${bindAddr} ${bindPort}`, start, accept, reject)
  }
  const listenUnix = ({ socketPath }: SocketBindInfo, accept: Accept, reject: Reject): void => {
    const onAccepted = joinTo((_peer, opened) => client.openssh_forwardOutStreamLocal(socketPath, opened))
    listen(socketPath, (forwarder) => forwarder.listenUnix(socketPath, onAccepted), accept, reject)
  }
  client.on(
    'request',
    (accept: Accept, reject: Reject, name: string, info: TcpipBindInfo | SocketBindInfo) => {
      if ('socketPath' in info) {
        if (name === 'streamlocal-forward@openssh.com') listenUnix(info, accept, reject)
        else cancel(info.socketPath, accept, reject)
      } else if (name === 'tcpip-forward') listenTcp(info, accept, reject)
      else cancel(`${info.bindAddr} ${info.bindPort}`, accept, reject)
    },
  )
}
