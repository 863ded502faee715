/** Connects the client with ports and Unix sockets that programs in the Dock can reach (-L, -D). */
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'
import type { ForwardAddress, RequestHandlers } from '@dock/ssh-server'
import { type DockRow, useWhileOpen } from '../../../modules/docks/index.ts'
import { HostRefused } from '../../../modules/hosts/index.ts'
import { requireReadyDock } from '../ready-dock.ts'
import type { SshConnection } from '../ssh-connection.ts'
import { joinChannel } from './join-channel.ts'

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
  return useWhileOpen(activity, dock, () =>
    gateway.connectPort({ hostId, dockId: dock.id, port }, { generation: dock.generation }),
  )
}

/** Returns the handler of such requests. They are refused if the client's user name matches several Docks. */
export function createConnect(connection: SshConnection): RequestHandlers['connect'] {
  const { context, forwarder } = connection
  let open = 0

  const reach = async (address: ForwardAddress): Promise<Duplex> =>
    'path' in address
      ? (await forwarder.start()).connectUnix(address.path)
      : connectTcp(connection, address.host, address.port)
  const forward = async (
    address: ForwardAddress,
    { accept, reject }: Parameters<RequestHandlers['connect']>[1],
  ): Promise<void> => {
    if (open >= limits.ssh.forwardedPerConnectionMax) return reject()
    open += 1
    const release = (): void => {
      open -= 1
    }
    try {
      const stream = await reach(address)
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
  return (address, offer) => void forward(address, offer)
}
