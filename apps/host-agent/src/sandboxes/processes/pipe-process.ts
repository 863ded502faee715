/**
 * Connects a process with a connection: input upwards, both outputs and the end downwards, all in frames, with
 * back-pressure in both directions. Large streams yield to commands.
 */
import type { Duplex, Readable } from 'node:stream'
import { type Precedence, throttleReading } from '@dock/foundation'
import { encodeFrame, FrameReader, writeFrame } from '@dock/host-protocol'
import type { DockProcess } from './open-process.ts'

const newlineByte = 10

/** If the connection closes before the end was sent, the process is hung up. */
export function pipeProcess(
  { opened, ended, lastLine, hangUp }: DockProcess,
  connection: Duplex,
  precedence: Precedence,
): void {
  const { stdout, stderr } = opened
  let isOver = false
  connection.on('error', () => undefined)
  // The end of the input is a frame. Without it, the other end was killed.
  connection.once('end', () => connection.destroy())
  const leave = (): void => {
    if (!isOver) void hangUp()
  }
  // It may have closed while it was being accepted, and then never says so again.
  if (connection.closed) {
    leave()
    return
  }
  connection.once('close', leave)
  takeInput(connection, opened, precedence)
  const sent = [
    sendOutput('stdout', stdout, connection, precedence),
    sendOutput('stderr', stderr, connection, precedence),
  ]
  void Promise.all([ended, ...sent]).then(([end, ...lastBytes]) => {
    isOver = true
    if (connection.destroyed) return
    const line = lastLine(end)
    if (line !== null) {
      // A terminal has one output.
      const [kind, lastByte, newline] = stderr
        ? (['stderr', lastBytes[1], '\n'] as const)
        : (['stdout', lastBytes[0], '\r\n'] as const)
      const isBegun = lastByte !== null && lastByte !== newlineByte
      writeFrame(connection, kind, [Buffer.from(`${isBegun ? newline : ''}${line}${newline}`)])
    }
    connection.end(encodeFrame('end', Buffer.from(JSON.stringify(end))))
  })
}

const takeInput = (
  connection: Duplex,
  { stdin, stdout }: Pick<DockProcess['opened'], 'stdin' | 'stdout'>,
  precedence: Precedence,
): void => {
  const reader = new FrameReader({
    stdin: (piece) => {
      if (stdin?.writable && !stdin.write(piece)) connection.pause()
    },
    closeStdout: () => void stdout?.destroy(),
    end: () => void stdin?.end(),
  })
  const resume = throttleReading(connection, precedence, () => !stdin?.writableNeedDrain)
  connection.on('data', (chunk: Buffer) => {
    try {
      reader.feed(chunk)
    } catch (error) {
      connection.destroy(error as Error)
    }
  })
  stdin?.on('drain', resume)
  // The program closed its input or ended: what still arrives is dropped, so that the sender is not held up.
  stdin?.once('close', resume)
}

/** Resolves to the last byte when the output has ended; null if it had none. */
const sendOutput = (
  kind: 'stdout' | 'stderr',
  output: Readable | null,
  connection: Duplex,
  precedence: Precedence,
): Promise<number | null> =>
  new Promise((resolve) => {
    if (!output) return resolve(null)
    let lastByte: number | null = null
    output.once('close', () => resolve(lastByte))
    const resume = throttleReading(output, precedence, () => !connection.writableNeedDrain)
    output.on('data', (chunk: Buffer) => {
      lastByte = chunk.at(-1) ?? lastByte
      if (!connection.destroyed && !writeFrame(connection, kind, [chunk])) output.pause()
    })
    connection.on('drain', resume)
  })
