/**
 * Connections to a Dock: CONNECT requests over the link whose bytes are the terminal's, or the port's, both ways. What
 * they are to be stands in the query. Refused as a call is, by `agentError`.
 */
import * as z from 'zod'

const generation = z.coerce.number().int().min(1)
const cells = z.coerce.number().int().min(1).max(1000)

export const terminalSize = z.strictObject({ cols: cells, rows: cells })
export type TerminalSize = z.infer<typeof terminalSize>

/**
 * CONNECT /docks/:dockId/terminals/:terminalId, a uuid of the caller's choice: a login shell. `busy` when four are
 * open, `unsupported` where the runtime has none. At its end the trailer `exit-code` tells how the shell ended, absent
 * when the Dock ended under it. Closing the connection hangs up.
 */
export const openTerminal = z.strictObject({ generation, ...terminalSize.shape })
export type OpenTerminal = z.infer<typeof openTerminal>
export const exitCodeTrailer = 'exit-code'

/** POST /docks/:dockId/terminals/:terminalId/resize with a {@link terminalSize}. Answers `{}`, also once it is over. */

/**
 * CONNECT /docks/:dockId/ports/:port: a TCP connection to that port inside, also where the program listens on the
 * Dock's own loopback only. `not_found` when nothing listens there.
 */
export const connectPort = z.strictObject({ generation })
export type ConnectPort = z.infer<typeof connectPort>

/**
 * CONNECT /docks/:dockId/git/:connectionId: the connection of git in the Dock that a `git.connected` told of. `not_found`
 * when it is gone.
 */
