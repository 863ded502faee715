/**
 * One open terminal: carries bytes between its WebSocket and its Dock, holding back whichever side is faster, and closes
 * it when it is idle or old, when either side is gone, or when it is told to.
 */
import { limits } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { RawData, WebSocket } from 'ws'
import type { ConnectedTerminal } from '../../modules/terminals/index.ts'
import { type Closing, closings, exitFrame, readResize } from './terminal-frames.ts'

/** Bytes held for a client that reads slowly, besides the windows of the connection to the host. */
const heldBytesMax = 256 * 1024
const idleMs = limits.terminal.idleSecondsMax * 1000
const openMs = limits.terminal.openSecondsMax * 1000
const pingMs = 20_000
/** Pings without a sign of the client after which it is taken for gone. */
const unansweredMax = 2

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)

/** Runs it until it is closed, which the answer does; calls `onEnd` once. */
export function runTerminal(options: {
  socket: WebSocket
  terminal: ConnectedTerminal
  clock: Clock
  onEnd: () => void
}): (why: Closing) => void {
  const { socket, terminal, clock } = options
  const { stream } = terminal
  const cancels = new Map<string, () => void>()
  let isOver = false

  const close = (why: Closing): void => {
    const [code, reason] = closings[why]
    socket.close(code, reason)
    end()
  }
  const end = (): void => {
    if (isOver) return
    isOver = true
    for (const cancel of cancels.values()) cancel()
    stream.destroy()
    // A client that does not read would never see the close.
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
  const hear = (): void => {
    unanswered = 0
  }
  const ping = (): void => {
    // While this service holds back, the answer waits behind the client's input, or the ping behind its output.
    if (socket.isPaused || socket.bufferedAmount > 0) hear()
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

  socket.on('pong', hear)
  socket.on('message', (data, isBinary) => {
    if (isOver) return
    hear()
    touch()
    if (isBinary) {
      if (!stream.write(bytesOf(data))) socket.pause()
      return
    }
    const size = readResize(bytesOf(data).toString('utf8'))
    // A size that does not arrive is the next one's to correct.
    if (size) terminal.resize(size).catch(() => undefined)
    else close('notUnderstood')
  })
  stream.on('drain', () => socket.resume())
  stream.on('data', (chunk: Buffer) => {
    touch()
    let hadToWait = false
    socket.send(chunk, { binary: true }, (error) => {
      // What the kernel takes at once tells nothing of the client; what had to wait goes as the client reads.
      if (hadToWait && !error) hear()
      if (socket.bufferedAmount < heldBytesMax && stream.isPaused()) stream.resume()
    })
    hadToWait = socket.bufferedAmount > 0
    if (socket.bufferedAmount >= heldBytesMax) stream.pause()
  })
  stream.once('end', () => {
    const code = terminal.exitCode()
    if (code === null) return close('dockStopped')
    socket.send(exitFrame(code))
    close('exited')
  })
  const lose = (): void => {
    if (!isOver) close('hostLost')
  }
  stream.on('error', lose)
  stream.once('close', lose)
  if (stream.destroyed) queueMicrotask(lose)
  socket.on('error', () => undefined)
  socket.once('close', end)
  return close
}
