/** Serves the client's requests to forward connections: into the Dock (-L, -D), and from listeners in the Dock (-R). */
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'
import type { RejectConnection, ServerChannel } from 'ssh2'
import { type DockRow, useWhileOpen } from '../../../modules/docks/index.ts'
import { HostRefused } from '../../../modules/hosts/index.ts'
import { requireReadyDock } from '../ready-dock.ts'
import type { SshConnection } from '../ssh-connection.ts'
import { joinChannel } from './join-channel.ts'
import { serveRemoteForwards } from './serve-remote-forwards.ts'

const loopbackNames: ReadonlySet<string> = new Set([
  ...['', 'localhost', '127.0.0.1', '::1', '0.0.0.0', '::', 'ip6-localhost'],
])

const isDockItself = (host: string, { name, ip }: DockRow): boolean =>
  loopbackNames.has(host.toLowerCase()) || host === ip || host === name

/** Connects to a port of the Dock over the host's link. Everything else is reached by a program in the Dock. */
const connectTcp = async (connection: SshConnection, host: string, port: number): Promise<Duplex> => {
  const { context, entrance, forwarder } = connection
  const dock = await requireReadyDock(context, entrance)
  const { hostId } = dock
  if (!isDockItself(host, dock) || hostId === null) return (await forwarder.start()).connect(host, port)
  const { gateway, activity } = context.docks
  return useWhileOpen(activity, dock, () => gateway.connectPort(hostId, dock.id, port, dock.generation))
}

/** Begins to accept requests. They are refused if the client's user name matches several Docks. */
export function acceptForwarding(connection: SshConnection): void {
  const { client, context, forwarder } = connection
  let open = 0

  const forward = async (
    accept: () => ServerChannel,
    reject: RejectConnection,
    connect: () => Promise<Duplex>,
  ): Promise<void> => {
    if (open >= limits.ssh.forwardedPerConnectionMax) return void reject()
    open += 1
    const release = (): void => {
      open -= 1
    }
    try {
      const stream = await connect()
      if (connection.isClosed()) {
        stream.destroy()
        return release()
      }
      joinChannel(connection, accept(), stream, release)
    } catch (error) {
      release()
      // That nothing listens on a port is normal.
      if (!(error instanceof HostRefused)) context.logger.debug({ err: error }, 'could not forward')
      if (!connection.isClosed()) reject()
    }
  }
  client.on('tcpip', (accept, reject, { destIP, destPort }) => {
    void forward(accept, reject, () => connectTcp(connection, destIP, destPort))
  })
  client.on('openssh.streamlocal', (accept, reject, { socketPath }) => {
    void forward(accept, reject, async () => (await forwarder.start()).connectUnix(socketPath))
  })
  serveRemoteForwards(connection)
}
