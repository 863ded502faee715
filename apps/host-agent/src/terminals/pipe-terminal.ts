/** Connects a terminal with a connection, with backpressure in both directions. */
import type { Duplex } from 'node:stream'
import type { DockTerminal } from './open-terminal.ts'

/** Limit of input that the program has not read yet, in addition to the terminal's own buffer. */
const untakenBytesMax = 64 * 1024

/** Connects the two until one ends. The terminal is hung up when the connection closes. */
export function pipeTerminal({ terminal, ended }: DockTerminal, connection: Duplex): void {
  let isHeld = false
  connection.on('error', () => undefined)
  connection.on('drain', () => {
    isHeld = false
    terminal.resume()
  })
  let untaken = 0
  connection.on('data', (chunk: Buffer) => {
    untaken += chunk.length
    if (untaken >= untakenBytesMax) connection.pause()
    terminal.write(chunk, () => {
      untaken -= chunk.length
      if (untaken < untakenBytesMax) connection.resume()
    })
  })
  connection.once('close', () => terminal.kill())
  terminal.onData((chunk) => {
    if (connection.writableEnded || connection.destroyed) return
    if (connection.write(chunk) || isHeld) return
    isHeld = true
    terminal.pause()
  })
  void ended.then(() => connection.end())
}
