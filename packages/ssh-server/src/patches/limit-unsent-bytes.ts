/** Limits what one client makes this process hold in memory because it does not read. */
import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'
import type { BufferShare } from './buffer-budget.ts'

/** Above this many unsent bytes, sessions and forwarded connections wait. */
const unsentBytesHigh = 1024 * 1024
/** While all connections of the person hold too much, those that have more than this wait. */
const unsentBytesLow = 64 * 1024
/** Replies to requests cannot wait. A client that makes this many pile up is disconnected. */
const unsentBytesMax = 16 * 1024 * 1024
const queuedPacketsHigh = 64

export type SocketDrain = {
  /** Resolves when the client has read enough that more may be sent, or when the connection has closed. */
  wait(): Promise<void>
}

/** Packets that ssh2 holds while keys are exchanged again. It has no event for "full", so its queue is read. */
const queuedPackets = (client: Connection): number => {
  const queue: unknown = Reflect.get(Object(Reflect.get(client, '_protocol')), '_queue')
  return Array.isArray(queue) ? queue.length : 0
}

/** `share` is the connection's part of what its person may leave unread. */
export function createSocketDrain(client: Connection, socket: Socket, share: BufferShare): SocketDrain {
  let waiting: Promise<void> | undefined
  socket.on('data', () => {
    if (socket.writableLength > unsentBytesMax) socket.destroy()
  })
  const isFull = (): boolean =>
    !socket.destroyed &&
    (socket.writableLength > unsentBytesHigh ||
      queuedPackets(client) > queuedPacketsHigh ||
      (socket.writableLength > unsentBytesLow && share.note()))
  const waitOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        waiting = undefined
        socket.off('drain', done)
        socket.off('close', done)
        client.off('rekey', done)
        resolve()
      }
      socket.once('drain', done)
      socket.once('close', done)
      client.once('rekey', done)
    })
  return {
    wait: async () => {
      while (isFull()) {
        waiting ??= waitOnce()
        await waiting
      }
    },
  }
}
