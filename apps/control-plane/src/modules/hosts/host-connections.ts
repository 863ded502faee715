/** Connections to Docks over a host's link: bytes both ways, with back-pressure. The fleet gateway implements it. */
import type { Duplex } from 'node:stream'

export type TerminalSize = { cols: number; rows: number }

export type TerminalConnection = {
  /** What is typed goes in, what is shown comes out. Destroying it hangs up; it fails when the host is lost. */
  stream: Duplex
  /** To be read once the stream has ended: how the shell ended, or null when the Dock ended under it. */
  exitCode(): number | null
}

export type HostConnections = {
  /** Opens a login shell. The host refuses with `busy` when the Dock has as many as it may have. */
  openTerminal(
    hostId: string,
    dockId: string,
    wanted: TerminalSize & { terminalId: string; generation: number },
  ): Promise<TerminalConnection>
  resizeTerminal(hostId: string, dockId: string, terminalId: string, size: TerminalSize): Promise<void>
  /** A TCP connection to a port inside. The host refuses with `not_found` when nothing listens there. */
  connectPort(hostId: string, dockId: string, port: number, generation: number): Promise<Duplex>
  /** Takes a connection of git in the Dock to its door. The host refuses with `not_found` when it is gone. */
  connectGit(hostId: string, dockId: string, connectionId: string): Promise<Duplex>
}
