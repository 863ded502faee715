/** One signed-in connection: its sessions, what it forwards, and its end when the person loses access to the Dock. */
import type { Socket } from 'node:net'
import { limits } from '@dock/contract'
import type { BufferShare, ClientConnection } from '@dock/ssh-server'
import type { Entrance } from './find-entrance.ts'
import { createConnect } from './forwarding/connect-to-dock.ts'
import { createDockForwarder } from './forwarding/dock-forwarder.ts'
import { createAgentForwarding } from './forwarding/forward-agent.ts'
import { createListeners } from './forwarding/listen-in-dock.ts'
import { serveSession } from './serve-session.ts'
import type { SshConnection } from './ssh-connection.ts'
import type { SshContext } from './ssh-context.ts'

/** Time for the client to show why its sessions have ended. It would drop that at a disconnect. */
const lastWordsMs = 300

const endpointsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`

/** Serves a connection that has signed in. */
export function serveConnection(
  context: SshContext,
  client: ClientConnection,
  socket: Socket,
  entrance: Entrance,
  share: BufferShare,
): void {
  const closing = new Set<() => void>()
  let isClosed = false
  let hasLostAccess = false
  let sessions = 0
  const connection: SshConnection = {
    context,
    entrance,
    client,
    endpoints: endpointsOf(socket),
    forwarder: createDockForwarder(context, entrance, share),
    beginningToListen: new Set(),
    agentSocket: () => agentSocket(),
    onClosed: (end) => {
      if (isClosed) end()
      else closing.add(end)
      return () => closing.delete(end)
    },
    isClosed: () => isClosed,
    hasLostAccess: () => hasLostAccess,
  }
  const agentSocket = createAgentForwarding(connection)
  const unsubscribe = holdAccess(context, entrance, () => {
    hasLostAccess = true
    close()
    context.docks.clock.after(lastWordsMs, client.end)
  })
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    unsubscribe()
    for (const end of [...closing]) end()
    closing.clear()
    connection.forwarder.end()
  }
  client.serve({
    openSession: () => {
      if (isClosed || sessions >= limits.ssh.sessionsPerConnectionMax) return null
      sessions += 1
      return serveSession(connection, () => {
        sessions -= 1
      })
    },
    connect: createConnect(connection),
    ...createListeners(connection),
    onClosed: close,
  })
}

/** Calls `onLost` when the key, the membership or the right to see the Dock's secrets is gone. */
const holdAccess = (
  { accessSignals }: SshContext,
  { caller, dock }: Entrance,
  onLost: () => void,
): (() => void) => {
  if (!dock) return () => undefined
  const { userId, credentialId } = caller
  const hold = { userId, credentialId, organizationId: dock.organizationId, dockId: dock.id }
  const unsubscribe = accessSignals.subscribe(hold, onLost)
  // The key may have been deleted between the check of the signature and the subscription.
  accessSignals.notice(credentialId)
  return unsubscribe
}
