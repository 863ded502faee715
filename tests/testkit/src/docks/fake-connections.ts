/**
 * Connections of the fake host. A test plays the shell of its terminals, and its ports are ports of this machine. Tests
 * only.
 */
import { connect } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import {
  type HostConnections,
  HostRefused,
  type ProcessRequest,
  type RemoteProcess,
  type TerminalSize,
} from '@dock/control-plane/src/modules/hosts/index.ts'
import { newUuid } from '@dock/foundation'

import { openFakeProcess } from './fake-process.ts'

export type FakeTerminalEnd = {
  dockId: string
  generation: number
  /** The shell's end of the terminal. */
  shell: Duplex
  sizes: TerminalSize[]
  /** Ends the terminal with the shell's exit code, or with null as if the Dock stopped. */
  exit(code: number | null): void
}

/** `alive` returns true if the Dock runs with this generation. */
export function fakeConnections(alive: (dockId: string, generation: number) => boolean): HostConnections & {
  terminals: FakeTerminalEnd[]
  /** Processes that were opened, oldest first. They are programs of this machine. */
  processes: { dockId: string; request: ProcessRequest & { generation: number }; process: RemoteProcess }[]
  /** Set to true if requests are generated: processes can then change nothing on this machine. */
  confinesProcesses: boolean
  unreachable: Error | null
  /** Git connections from Docks that wait to be accepted, by connection id. */
  git: Map<string, Duplex>
} {
  const byId = new Map<string, FakeTerminalEnd>()
  const enter = (dockId: string, generation: number): void => {
    if (connections.unreachable) throw connections.unreachable
    if (!alive(dockId, generation)) throw new HostRefused('not_running', 'no sandbox')
  }
  const connections: ReturnType<typeof fakeConnections> = {
    terminals: [],
    processes: [],
    confinesProcesses: false,
    unreachable: null,
    git: new Map(),
    connectGit: async (_host, _dock, connectionId) => {
      const found = connections.git.get(connectionId)
      if (!found) throw new HostRefused('not_found', 'the connection is gone')
      connections.git.delete(connectionId)
      return found
    },
    openTerminal: async (_host, dockId, { terminalId, generation, cols, rows }) => {
      enter(dockId, generation)
      const [stream, shell] = duplexPair()
      let exitCode: number | null = null
      const exit = (code: number | null): void => {
        exitCode = code
        shell.end()
      }
      shell.on('error', () => undefined)
      stream.once('close', () => shell.destroy())
      const terminal = { dockId, generation, shell, sizes: [{ cols, rows }], exit }
      byId.set(terminalId, terminal)
      connections.terminals.push(terminal)
      return { stream, exitCode: () => exitCode }
    },
    resizeTerminal: async (_host, _dock, terminalId, size) => {
      byId.get(terminalId)?.sizes.push(size)
    },
    openProcess: async (_host, dockId, request) => {
      enter(dockId, request.generation)
      const process = await openFakeProcess(newUuid(), request, connections.confinesProcesses)
      connections.processes.push({ dockId, request, process })
      return process
    },
    connectPort: (_host, dockId, port, generation) =>
      new Promise((resolve, reject) => {
        enter(dockId, generation)
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
        socket.once('connect', () => resolve(socket))
        socket.once('error', () => reject(new HostRefused('not_found', `nothing listens on port ${port}`)))
      }),
  }
  return connections
}
