/**
 * One channel of a client: the streams of a program or of a forwarded connection. Both output streams of a channel share
 * one window, and ssh2 forgets one of them if both wait for it. So one write at a time is under way here.
 */
import { type Readable, Writable } from 'node:stream'
import type { ServerChannel } from 'ssh2'
import { isNamedSignal } from './named-signals.ts'
import { createChunkForgetter } from './patches/forget-waiting-chunks.ts'

/** How a program ended. A null exit code without a signal means that nobody knows. */
export type ProgramEnd = { exitCode: number | null; signal: string | null }

export type SshChannel = {
  /** What the client sends. */
  input: Readable
  /** What the client gets. A write is done when the client's window and the connection have room again. */
  stdout: Writable
  stderr: Writable
  /** Writes text to the client's standard error, before what waits in `stderr`. */
  say(text: string): void
  /** Discards everything from now on. Call it when the channel has closed: ssh2 never completes a later write. */
  discard(): void
  /** Reports the end of the program as `exit-status` or `exit-signal`, and closes the channel. */
  exit(end: ProgramEnd): void
  /** Says that no more output follows. The client may go on sending. */
  endOutput(): void
  /** Closes both directions. */
  close(): void
  /** Calls `callback` once, when the channel has closed and everything that the client sent has been read. */
  onClosed(callback: () => void): void
}

const bufferedBytesMax = 64 * 1024
/** What a shell adds to the number of a signal. Stands for signals that SSH cannot name. */
const otherSignalExitCode = 128
/** OpenSSH itself exits with this code if a connection breaks. */
const lostExitCode = 255

/** `waitForRoom` resolves when the connection may send more. */
export function createChannel(channel: ServerChannel, waitForRoom: () => Promise<void>): SshChannel {
  const forget = createChunkForgetter(channel)
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
        forget()
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
          .then(() => (isOpen ? waitForRoom() : undefined))
        void lastWrite.then(() => done())
      },
    })
    // A write after the end fails. The program has ended by then, so nobody waits for it.
    output.on('error', () => undefined)
    return output
  }
  return {
    input: channel,
    stdout: outputTo(channel),
    stderr: outputTo(channel.stderr),
    say: (text) => void channel.stderr.write(text),
    discard,
    exit: ({ exitCode, signal }) => {
      if (signal !== null && isNamedSignal(signal)) channel.exit(signal, false, '')
      else channel.exit(signal === null ? (exitCode ?? lostExitCode) : otherSignalExitCode)
      channel.end()
    },
    endOutput: () => channel.eof(),
    close: () => channel.close(),
    onClosed: (callback) => void channel.once('close', callback),
  }
}
