/** A connection that has signed in, as callers see it. */
import type { Socket } from 'node:net'
import type { Connection, ServerChannel } from 'ssh2'
import { createChannel } from './channel.ts'
import type { ChannelOpened, ClientConnection } from './handlers.ts'
import type { ChannelGuard } from './patches/guard-channels.ts'
import { limitUnsentBytes } from './patches/limit-unsent-bytes.ts'
import { noticeClosedOutputs } from './patches/notice-closed-outputs.ts'
import { openAgentChannel } from './patches/open-agent-channel.ts'
import { serveForwarding } from './serve-forwarding.ts'
import { serveSessions } from './serve-sessions.ts'

export function createConnection(
  client: Connection,
  socket: Socket,
  guard: ChannelGuard,
  end: () => void,
): ClientConnection {
  const waitForRoom = limitUnsentBytes(client, socket, guard.isOverBudget)
  const wrap = (channel: ServerChannel) => createChannel(channel, waitForRoom)
  const wrapOpened =
    (opened: ChannelOpened) =>
    (error: Error | undefined, channel: ServerChannel): void =>
      opened(error ? null : wrap(channel))

  return {
    joinBudget: (budget, person) => {
      const share = guard.join((measure) => budget.join(person, measure))
      socket.once('close', share.leave)
      return share
    },
    serve: (handlers) => {
      // A client that closes its half of the TCP connection has left.
      client.once('end', handlers.onClosed)
      client.once('close', handlers.onClosed)
      noticeClosedOutputs(client)
      serveSessions(client, wrap, handlers.openSession)
      serveForwarding(client, wrap, handlers)
    },
    openTcpChannel: (listener, peer, opened) =>
      void client.forwardOut(listener.host, listener.port, peer.host, peer.port, wrapOpened(opened)),
    openUnixChannel: (path, opened) => void client.openssh_forwardOutStreamLocal(path, wrapOpened(opened)),
    openAgentChannel: (opened) => openAgentChannel(client, wrapOpened(opened)),
    end,
  }
}
