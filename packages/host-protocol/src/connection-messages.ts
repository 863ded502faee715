/**
 * Connections to a Dock: CONNECT requests over the link that carry the bytes of a terminal or port in both directions.
 * Their parameters are in the query. The agent refuses a connection with an `agentError`, like a call.
 */
import * as z from 'zod'

const generation = z.coerce.number().int().min(1)
const cells = z.coerce.number().int().min(1).max(1000)

export const terminalSize = z.strictObject({ cols: cells, rows: cells })
export type TerminalSize = z.infer<typeof terminalSize>

/**
 * CONNECT /docks/:dockId/terminals/:terminalId: opens a login shell. The caller chooses `terminalId`, a uuid. Refused
 * with `busy` if four terminals are open, with `unsupported` if the runtime has no terminals. The trailer `exit-code`
 * carries the shell's exit code; it is absent if the Dock ended first. Closing the connection hangs up the terminal.
 */
export const openTerminal = z.strictObject({ generation, ...terminalSize.shape })
export type OpenTerminal = z.infer<typeof openTerminal>
export const exitCodeTrailer = 'exit-code'

/** POST /docks/:dockId/terminals/:terminalId/resize with a {@link terminalSize}. Returns `{}`, even after its end. */

/**
 * CONNECT /docks/:dockId/ports/:port: opens a TCP connection to that port inside the Dock, even if the program listens
 * only on the Dock's loopback. Refused with `not_found` if nothing listens on the port.
 */
export const connectPort = z.strictObject({ generation })
export type ConnectPort = z.infer<typeof connectPort>

/**
 * CONNECT /docks/:dockId/git/:connectionId: takes over the connection that a `git.connected` event announced. Refused
 * with `not_found` if that connection is closed.
 */
