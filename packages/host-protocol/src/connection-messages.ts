/**
 * Connections to a Dock: CONNECT requests over the link that carry the bytes of a process or port in both directions.
 * Their parameters are in the query. The agent refuses a connection with an `agentError`, like a call.
 */
import * as z from 'zod'

const generation = z.coerce.number().int().min(1)
const cells = z.coerce.number().int().min(1).max(1000)

export const terminalSize = z.strictObject({ cols: cells, rows: cells })
export type TerminalSize = z.infer<typeof terminalSize>

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
