/** Public interface of the terminals module: tickets, and the terminals that they open. */

export { createTerminalsModule, type TerminalsModule } from './create-terminals-module.ts'
export { type ConnectedTerminal, connectTerminal } from './routes/connect-terminal.ts'
export { openTerminal } from './routes/open-terminal.ts'
export type { TerminalContext } from './terminal-context.ts'
