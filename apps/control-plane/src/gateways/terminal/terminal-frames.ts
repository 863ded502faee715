/** The text frames of a terminal's WebSocket: JSON control. Binary frames are the terminal's bytes. */
import * as z from 'zod'
import type { TerminalSize } from '../../modules/hosts/index.ts'

const cells = z.int().min(1).max(1000)

/** What a client may send. */
const controlFrame = z.object({ type: z.literal('resize'), cols: cells, rows: cells })

/** The size that a text frame asks for; null when it is not understood. */
export function readResize(text: string): TerminalSize | null {
  try {
    const { cols, rows } = controlFrame.parse(JSON.parse(text))
    return { cols, rows }
  } catch {
    return null
  }
}

/** Tells how the shell ended; the close with 1000 follows. */
export function exitFrame(code: number): string {
  return JSON.stringify({ type: 'exit', code })
}

/** Why a WebSocket of a terminal was closed, by its close code. 1000 follows an exit frame. */
export const closings = {
  exited: [1000, 'the shell ended'],
  leaving: [1001, 'the service is restarting: ask for a new ticket'],
  notUnderstood: [1008, 'a text frame must be {"type":"resize","cols":1-1000,"rows":1-1000}'],
  hostLost: [1011, 'the connection to the host broke: ask for a new ticket'],
  idle: [4000, 'nothing was typed or shown for 30 minutes'],
  tooLong: [4001, 'it was open for 12 hours'],
  dockStopped: [4002, 'the Dock stopped'],
  accessLost: [
    4003,
    'the key, session or membership that it was opened with has ended, or the Dock is for admins now',
  ],
} as const satisfies Record<string, readonly [number, string]>
export type Closing = keyof typeof closings
