/**
 * Connects a process with a connection: input upwards, frames of both outputs and the end downwards, with back-pressure
 * in both directions.
 */
import type { Duplex, Readable } from 'node:stream'
import { encodeFrame } from '@dock/host-protocol'
import type { DockProcess } from './open-process.ts'

/** If the connection closes before the end was sent, the process is hung up. */
export function pipeProcess({ opened, ended, hangUp }: DockProcess, connection: Duplex): void {
  const { stdin, stdout, stderr } = opened
  let isOver = false
  connection.on('error', () => undefined)
  connection.once('close', () => {
    if (!isOver) void hangUp()
  })
  if (stdin) {
    connection.pipe(stdin)
    // The program closed its input or ended: what still arrives is dropped, so that the sender is not held up.
    stdin.once('close', () => {
      connection.unpipe(stdin)
      connection.resume()
    })
  }
  const outputs = [stdout, stderr].filter((stream) => stream !== null)
  connection.on('drain', () => {
    for (const output of outputs) output.resume()
  })
  const sent = [sendOutput('stdout', stdout, connection), sendOutput('stderr', stderr, connection)]
  void Promise.all([ended, ...sent]).then(([end]) => {
    isOver = true
    if (!connection.destroyed) connection.end(encodeFrame('end', Buffer.from(JSON.stringify(end))))
  })
}

/** Resolves when the output has ended. */
const sendOutput = (kind: 'stdout' | 'stderr', output: Readable | null, connection: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (!output) return resolve()
    output.once('close', resolve)
    output.on('data', (chunk: Buffer) => {
      if (connection.destroyed) return
      if (!connection.write(encodeFrame(kind, chunk))) output.pause()
    })
  })
