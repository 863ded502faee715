/**
 * Writes to a channel with back-pressure. Both output streams of a channel share one window, and ssh2 forgets one of them
 * if both wait for it. It also repeats the last chunk that waited when the other stream waits later. So here one write is
 * under way at a time, and what ssh2 remembers of it is removed afterwards.
 */
import { Writable } from 'node:stream'
import type { ServerChannel } from 'ssh2'
import type { SocketDrain } from './socket-drain.ts'

export type ChannelOutputs = {
  stdout: Writable
  stderr: Writable
  /** From now on everything is discarded. Call it when the channel has closed: ssh2 never completes a later write. */
  discard(): void
}

const bufferedBytesMax = 64 * 1024
const remembered = ['_chunk', '_chunkcb', '_chunkErr', '_chunkcbErr'] as const

export function createChannelOutputs(channel: ServerChannel, drain: SocketDrain): ChannelOutputs {
  let isOpen = true
  let release: (() => void) | undefined
  let lastWrite: Promise<void> = Promise.resolve()
  const discard = (): void => {
    isOpen = false
    release?.()
  }
  // A write to a channel that is closing fails. The end of the channel is reported elsewhere.
  channel.on('error', discard)
  channel.stderr.on('error', discard)

  const send = (target: Writable, bytes: Buffer): Promise<void> =>
    new Promise((resolve) => {
      if (!isOpen) return resolve()
      release = resolve
      target.write(bytes, () => {
        for (const name of remembered) Reflect.set(channel, name, undefined)
        release = undefined
        resolve()
      })
    })
  const outputTo = (target: Writable): Writable => {
    const output = new Writable({
      highWaterMark: bufferedBytesMax,
      write: (bytes: Buffer, _encoding, done) => {
        lastWrite = lastWrite
          .then(() => send(target, bytes))
          .catch(discard)
          .then(() => (isOpen ? drain.wait() : undefined))
        void lastWrite.then(() => done())
      },
    })
    // A write after the end fails. The program has ended by then, so nobody waits for it.
    output.on('error', () => undefined)
    return output
  }
  return { stdout: outputTo(channel), stderr: outputTo(channel.stderr), discard }
}
