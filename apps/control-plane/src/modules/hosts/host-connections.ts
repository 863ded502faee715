/** Byte streams to Docks over a host's link, with back-pressure. The fleet gateway implements this interface. */
import type { Duplex } from 'node:stream'

export type TerminalSize = { cols: number; rows: number }

export type TerminalConnection = {
  /** Write input, read output. Destroying the stream hangs up. The stream fails if the connection to the host breaks. */
  stream: Duplex
  /** Call after the stream has ended. Returns the shell's exit code, or null if the Dock ended before the shell. */
  exitCode(): number | null
}

export type HostConnections = {
  /** Opens a login shell. Throws `HostRefused` `busy` if the Dock has reached its limit of terminals. */
  openTerminal(
    hostId: string,
    dockId: string,
    wanted: TerminalSize & { terminalId: string; generation: number },
  ): Promise<TerminalConnection>
  resizeTerminal(hostId: string, dockId: string, terminalId: string, size: TerminalSize): Promise<void>
  /** Opens a TCP connection to a port in the Dock. Throws `HostRefused` `not_found` if nothing listens there. */
  connectPort(hostId: string, dockId: string, port: number, generation: number): Promise<Duplex>
  /** Accepts a connection from git to the Dock's git door. Throws `HostRefused` `not_found` if it has closed. */
  connectGit(hostId: string, dockId: string, connectionId: string): Promise<Duplex>
}
