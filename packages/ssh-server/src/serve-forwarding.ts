/** Passes the requests to forward connections on to their handlers. */
import type { Connection, RejectConnection, ServerChannel, SocketBindInfo, TcpipBindInfo } from 'ssh2'
import type { SshChannel } from './channel.ts'
import type { ForwardAddress, RequestHandlers } from './handlers.ts'

/** Both are undefined if the client wants no reply. */
type Accept = ((chosenPort?: number) => void) | undefined
type Reject = (() => void) | undefined

const addressOf = (info: TcpipBindInfo | SocketBindInfo): ForwardAddress =>
  'socketPath' in info ? { path: info.socketPath } : { host: info.bindAddr, port: info.bindPort }

export function serveForwarding(
  client: Connection,
  wrap: (channel: ServerChannel) => SshChannel,
  { connect, listen, stopListening }: Pick<RequestHandlers, 'connect' | 'listen' | 'stopListening'>,
): void {
  const offerOf = (accept: () => ServerChannel, reject: RejectConnection) => ({
    accept: () => wrap(accept()),
    reject: () => void reject(),
  })
  client.on('tcpip', (accept, reject, { destIP, destPort }) =>
    connect({ host: destIP, port: destPort }, offerOf(accept, reject)),
  )
  client.on('openssh.streamlocal', (accept, reject, { socketPath }) =>
    connect({ path: socketPath }, offerOf(accept, reject)),
  )
  client.on(
    'request',
    (accept: Accept, reject: Reject, name: string, info: TcpipBindInfo | SocketBindInfo) => {
      const address = addressOf(info)
      if (name.startsWith('cancel-')) {
        if (stopListening(address)) accept?.()
        else reject?.()
        return
      }
      listen(address).then(
        (port) => accept?.(port),
        () => reject?.(),
      )
    },
  )
}
