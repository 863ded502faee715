/**
 * Runs one open terminal. It copies bytes between the WebSocket and the Dock with backpressure in both directions. It
 * closes the terminal when it is idle or too old, when either side disconnects, or when the gateway says so.
 */
import { limits } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { RawData, WebSocket } from 'ws'
import type { ConnectedTerminal } from '../../modules/terminals/index.ts'
import { attachedFrame, type Closing, closings, exitFrame, readResize } from './terminal-frames.ts'

/** Buffer limit for a client that reads slowly. The flow control windows of the connection to the host come on top. */
const heldBytesMax = 256 * 1024
const idleMs = limits.terminal.idleSecondsMax * 1000
const openMs = limits.terminal.openSecondsMax * 1000
const pingMs = 20_000
/** Number of unanswered pings after which the client counts as disconnected. */
const unansweredMax = 2

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)

/** Starts the terminal. Returns a function that closes it. Calls `onEnd` once, when the terminal has closed. */
export function runTerminal(options: {
  socket: WebSocket
  terminal: ConnectedTerminal
  clock: Clock
  onEnd: () => void
}): (why: Closing) => void {
  const { socket, terminal, clock } = options
  const { input, output } = terminal
  const cancels = new Map<string, () => void>()
  let isOver = false
  let hasOutputEnded = false

  const close = (why: Closing): void => {
    const [code, reason] = closings[why]
    socket.close(code, reason)
    end()
  }
  const end = (): void => {
    if (isOver) return
    isOver = true
    for (const cancel of cancels.values()) cancel()
    terminal.close()
    // While the socket is paused, it would never process the client's part of the close handshake.
    socket.resume()
    terminal.release()
    options.onEnd()
  }

  let activeAt = clock.now().getTime()
  const touch = (): void => {
    activeAt = clock.now().getTime()
  }
  const watchIdle = (): void => {
    const left = activeAt + idleMs - clock.now().getTime()
    if (left <= 0) close('idle')
    else cancels.set('idle', clock.after(left, watchIdle))
  }
  let unanswered = 0
  const resetUnanswered = (): void => {
    unanswered = 0
  }
  const ping = (): void => {
    // Under backpressure, the pong waits behind the client's input, or the ping behind its output.
    if (socket.isPaused || socket.bufferedAmount > 0) resetUnanswered()
    else unanswered += 1
    if (unanswered > unansweredMax) socket.terminate()
    else {
      socket.ping()
      cancels.set('ping', clock.after(pingMs, ping))
    }
  }
  cancels.set(
    'age',
    clock.after(openMs, () => close('tooLong')),
  )
  cancels.set('ping', clock.after(pingMs, ping))
  watchIdle()

  socket.on('pong', resetUnanswered)
  socket.on('message', (data, isBinary) => {
    if (isOver) return
    resetUnanswered()
    touch()
    if (isBinary) {
      if (!input.write(bytesOf(data))) socket.pause()
      return
    }
    const size = readResize(bytesOf(data).toString('utf8'))
    // Errors are ignored: the next resize corrects the size.
    if (size) terminal.resize(size).catch(() => undefined)
    else close('notUnderstood')
  })
  if (terminal.start !== undefined) socket.send(attachedFrame(terminal.start))
  input.on('drain', () => socket.resume())
  output.on('data', (chunk: Buffer) => {
    touch()
    let hadToWait = false
    socket.send(chunk, { binary: true }, (error) => {
      // A chunk that the kernel buffers at once proves nothing. A chunk that had to wait was sent because the client
      // reads.
      if (hadToWait && !error) resetUnanswered()
      if (socket.bufferedAmount < heldBytesMax && output.isPaused()) output.resume()
    })
    hadToWait = socket.bufferedAmount > 0
    if (socket.bufferedAmount >= heldBytesMax) output.pause()
  })
  const finish = (code: number | null): void => {
    if (isOver) return
    if (code !== null) socket.send(exitFrame(code))
    close(code === null ? 'dockStopped' : 'exited')
  }
  const lose = (): void => {
    if (!isOver) close('hostLost')
  }
  output.once('end', () => {
    hasOutputEnded = true
    terminal.exitCode().then(finish, lose)
  })
  output.on('error', lose)
  output.once('close', () => {
    if (!hasOutputEnded) lose()
  })
  if (output.destroyed) queueMicrotask(lose)
  socket.on('error', () => undefined)
  socket.once('close', end)
  return close
}
