/** Text frames of a terminal's WebSocket: control messages in JSON. Binary frames hold the terminal's bytes. */
import * as z from 'zod'
import type { TerminalSize } from '../../modules/hosts/index.ts'

const cells = z.int().min(1).max(1000)

/** What a client may send. */
const controlFrame = z.object({ type: z.literal('resize'), cols: cells, rows: cells })

/** Returns the size that a text frame requests, or null if the frame is invalid. */
export function readResize(text: string): TerminalSize | null {
  try {
    const { cols, rows } = controlFrame.parse(JSON.parse(text))
    return { cols, rows }
  } catch {
    return null
  }
}

/**
 * Returns the first frame of a terminal that is attached to a process: the offset in its output of the bytes that follow.
 * A client that counts them can go on from there.
 */
export function attachedFrame(offset: number): string {
  return JSON.stringify({ type: 'attached', offset })
}

/** Returns the frame that reports the shell's exit code. The WebSocket is then closed with code 1000. */
export function exitFrame(code: number): string {
  return JSON.stringify({ type: 'exit', code })
}

/**
 * Close codes and reasons of a terminal's WebSocket. Code 1000 follows an exit frame. Reasons have at most 123 bytes.
 */
export const closings = {
  exited: [1000, 'the shell exited'],
  leaving: [1001, 'the service is restarting: request a new ticket'],
  notUnderstood: [1008, 'a text frame must be {"type":"resize","cols":1-1000,"rows":1-1000}'],
  hostLost: [1011, 'the connection to the host broke: request a new ticket'],
  idle: [4000, 'the terminal was idle for 30 minutes'],
  tooLong: [4001, 'the terminal was open for 12 hours'],
  dockStopped: [4002, 'the Dock stopped'],
  accessLost: [
    4003,
    'the key, session or membership behind this terminal has ended, or only admins may use the Dock now',
  ],
} as const satisfies Record<string, readonly [number, string]>
export type Closing = keyof typeof closings
