/** One connection that the forwarding program holds, as a stream with back-pressure in both directions. */
import { Duplex } from 'node:stream'
import { chunkBytesMax, frameType, windowBytes } from './forwarder-frames.ts'

type Send = (type: number, payload?: Buffer) => void

export type ForwardedStream = {
  stream: Duplex
  /** Takes a frame of this stream. Throws if the program has sent more than was granted. */
  take(type: number, payload: Buffer): void
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** `onClosed` is called once, when the stream is destroyed. */
export function createForwardedStream(send: Send, onClosed: () => void): ForwardedStream {
  let mayReceive = windowBytes
  let toGrant = 0
  let maySend = windowBytes
  let hasFinished = false
  let hasSentFinish = false
  let isClosedByProgram = false
  let blocked: (() => void) | undefined

  const writeChunk = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    let rest = bytes
    while (rest.length > 0 && !isClosedByProgram) {
      const size = Math.min(rest.length, maySend, chunkBytesMax)
      if (size === 0) {
        const waiting = rest
        blocked = () => writeChunk(waiting, done)
        return
      }
      send(frameType.data, rest.subarray(0, size))
      maySend -= size
      rest = rest.subarray(size)
    }
    done()
  }

  const unblock = (): void => {
    const resume = blocked
    blocked = undefined
    resume?.()
  }

  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => {
      if (toGrant === 0) return
      mayReceive += toGrant
      send(frameType.grant, uint32(toGrant))
      toGrant = 0
    },
    write: (bytes: Buffer, _encoding, done) => writeChunk(bytes, done),
    final: (done) => {
      hasSentFinish = true
      if (!isClosedByProgram) send(frameType.finish)
      done()
    },
    destroy: (error, done) => {
      // After both ends, the program itself closes the connection, once it has written what it still holds.
      if (!isClosedByProgram && !(hasFinished && hasSentFinish)) send(frameType.close)
      onClosed()
      done(error)
    },
  })
  const take = (type: number, payload: Buffer): void => {
    switch (type) {
      case frameType.data:
        mayReceive -= payload.length
        if (mayReceive < 0) throw new Error('more bytes than were granted')
        toGrant += payload.length
        stream.push(Buffer.from(payload))
        return
      case frameType.grant:
        maySend += payload.length === 4 ? payload.readUInt32BE() : 0
        if (maySend > windowBytes) throw new Error('more bytes were granted than were sent')
        unblock()
        return
      case frameType.finish:
        hasFinished = true
        stream.push(null)
        return
      case frameType.close:
        isClosedByProgram = true
        // Bytes that arrived before the end may still wait for their reader. Later writes are discarded.
        if (hasFinished) unblock()
        else stream.destroy(new Error('the connection was closed'))
    }
  }
  return { stream, take }
}
