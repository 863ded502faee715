/** Public interface of the terminals module: tickets, and the terminals that they open. */

export { type ConnectedTerminal, connectTerminal } from './connect-terminal.ts'
export { createTerminalsModule } from './module.ts'
export type { TerminalContext } from './terminal-context.ts'
