/** Public face of the terminal gateway. */
export { createTerminalGateway, type TerminalGateway } from './terminal-gateway.ts'
