/** Limits what one client makes this process hold in memory because it does not read. */
import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

/** Above this many unsent bytes, sessions and forwarded connections wait. */
const unsentBytesHigh = 1024 * 1024
/** While all connections of the person hold too much, those that have more than this wait. */
const unsentBytesLow = 64 * 1024
/** Replies to requests cannot wait. A client that makes this many pile up is disconnected. */
const unsentBytesMax = 16 * 1024 * 1024
const queuedPacketsHigh = 64

/** Packets that ssh2 holds while keys are exchanged again. It has no event for "full", so its queue is read. */
type Internals = { _protocol: { _queue: readonly Buffer[] | undefined } }
export const queueField: PrivateFields = {
  usedBy: 'limit-unsent-bytes.ts',
  fields: { '_protocol._queue': ['present', 'lib/protocol/Protocol.js'] },
}

/**
 * Returns a function that resolves when the client has read enough that more may be sent, or when the connection has
 * closed. `isOverBudget` says whether all connections of the person hold too much.
 */
export function limitUnsentBytes(
  client: Connection,
  socket: Socket,
  isOverBudget: () => boolean,
): () => Promise<void> {
  const { _protocol: protocol } = privateFieldsOf<Internals>(client, queueField)
  let waiting: Promise<void> | undefined
  socket.on('data', () => {
    if (socket.writableLength > unsentBytesMax) socket.destroy()
  })
  const isFull = (): boolean =>
    !socket.destroyed &&
    (socket.writableLength > unsentBytesHigh ||
      (protocol._queue?.length ?? 0) > queuedPacketsHigh ||
      (socket.writableLength > unsentBytesLow && isOverBudget()))
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
  return async () => {
    while (isFull()) {
      waiting ??= waitOnce()
      await waiting
    }
  }
}
