/** One signed-in connection: its sessions, what it forwards, and its end when the person loses access to the Dock. */
import type { Socket } from 'node:net'
import { limits } from '@dock/contract'
import type { Connection } from 'ssh2'
import type { BufferShare } from './buffer-budget.ts'
import type { Entrance } from './find-entrance.ts'
import { acceptForwarding } from './forwarding/accept-forwarding.ts'
import { createDockForwarder } from './forwarding/dock-forwarder.ts'
import { createAgentForwarding } from './forwarding/forward-agent.ts'
import { noticeClosedOutputs } from './notice-closed-outputs.ts'
import { serveSession } from './serve-session.ts'
import { createSocketDrain } from './socket-drain.ts'
import type { SshConnection } from './ssh-connection.ts'
import type { SshContext } from './ssh-context.ts'

/** Time for the client to show why its sessions have ended. It would drop that at a disconnect. */
const lastWordsMs = 300

const endpointsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`

/** Serves a connection that has signed in. `disconnect` ends it. */
export function serveConnection(
  context: SshContext,
  client: Connection,
  socket: Socket,
  entrance: Entrance,
  share: BufferShare,
  disconnect: () => void,
): void {
  const closing = new Set<() => void>()
  let isClosed = false
  let hasLostAccess = false
  let sessions = 0
  const connection: SshConnection = {
    ...{ context, entrance, client },
    drain: createSocketDrain(client, socket, share),
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
    context.docks.clock.after(lastWordsMs, disconnect)
  })
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    unsubscribe()
    for (const end of [...closing]) end()
    closing.clear()
    connection.forwarder.end()
  }
  // A client that closes its half of the TCP connection has left.
  client.once('end', close)
  client.once('close', close)
  noticeClosedOutputs(client)
  client.on('session', (accept, reject) => {
    if (isClosed || sessions >= limits.ssh.sessionsPerConnectionMax) return void reject()
    sessions += 1
    serveSession(connection, accept(), () => {
      sessions -= 1
    })
  })
  acceptForwarding(connection)
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
