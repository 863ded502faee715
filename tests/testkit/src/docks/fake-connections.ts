/** Connections of the fake host. Its processes and ports are those of this machine. Tests only. */
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  type HostGateway,
  HostRefused,
  type ProcessRequest,
  type RemoteProcess,
} from '@dock/control-plane/src/modules/hosts/index.ts'
import { newUuid } from '@dock/foundation'
import { openFakeProcess } from './fake-process.ts'
import { isForShell, type PlayedShell, playShell } from './played-shell.ts'

/** `alive` returns true if the Dock runs with this generation. */
export function fakeConnections(alive: (dockId: string, generation: number) => boolean): Pick<
  HostGateway,
  'openProcess' | 'connectPort' | 'connectGit'
> & {
  /** Login shells on terminals that the test plays, oldest first. Null if they are programs of this machine too. */
  playedShells: PlayedShell[] | null
  /** Processes that were opened, oldest first. They are programs of this machine. */
  processes: { dockId: string; request: ProcessRequest & { generation: number }; process: RemoteProcess }[]
  /** Set to true if requests are generated: processes can then change nothing on this machine. */
  confinesProcesses: boolean
  unreachable: Error | null
  /** Git connections from Docks that wait to be accepted, by connection id. */
  git: Map<string, Duplex>
} {
  const enter = (dockId: string, generation: number): void => {
    if (connections.unreachable) throw connections.unreachable
    if (!alive(dockId, generation)) throw new HostRefused('not_running', 'no sandbox')
  }
  const connections: ReturnType<typeof fakeConnections> = {
    playedShells: null,
    processes: [],
    confinesProcesses: false,
    unreachable: null,
    git: new Map(),
    connectGit: async ({ connectionId }) => {
      const found = connections.git.get(connectionId)
      if (!found) throw new HostRefused('not_found', 'the connection is gone')
      connections.git.delete(connectionId)
      return found
    },
    openProcess: async ({ dockId }, request) => {
      enter(dockId, request.generation)
      if (connections.playedShells && isForShell(request)) {
        const { process, played } = playShell(request.pty!)
        connections.playedShells.push(played)
        return process
      }
      const process = await openFakeProcess(newUuid(), request, connections.confinesProcesses)
      connections.processes.push({ dockId, request, process })
      return process
    },
    connectPort: ({ dockId, port }, { generation }) =>
      new Promise((resolve, reject) => {
        enter(dockId, generation)
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
        socket.once('connect', () => resolve(socket))
        socket.once('error', () => reject(new HostRefused('not_found', `nothing listens on port ${port}`)))
      }),
  }
  return connections
}
