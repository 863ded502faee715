/** Carries a terminal over a connection: what one side cannot take yet holds the other back. */
import type { Duplex } from 'node:stream'
import type { DockTerminal } from './open-terminal.ts'

/** Input that a program has not read yet, beyond what the terminal itself holds. */
const untakenBytesMax = 64 * 1024

/** Joins the two until either ends. A connection that closes hangs the terminal up. */
export function carryTerminal({ terminal, ended }: DockTerminal, connection: Duplex): void {
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
