/** Connections to processes, ports and git connections of Docks. */
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import { pipePort } from '../sandboxes/ports/pipe-port.ts'
import { pipeProcess } from '../sandboxes/processes/pipe-process.ts'
import type { Handlers } from './bind-calls.ts'
import { type HostView, knownDock } from './host-view.ts'

export function connectionHandlers({ docks, gitConnections, precedence }: HostView) {
  return {
    openProcess: async ({ dockId, processId }, { waitsForOutputs }, request, connection) => {
      precedence.take()
      connection.beginDialBack()
      const opened = await knownDock(docks, dockId).openProcess(processId, request, {
        waitsForOutputs: waitsForOutputs !== undefined,
      })
      if (connection.gone.aborted) return opened.hangUp()
      pipeProcess(opened, await connection.acceptByDialBack(), precedence)
    },
    connectPort: async ({ dockId, port }, request, connection) => {
      const socket = await knownDock(docks, dockId).connectPort(port, request)
      if (connection.gone.aborted) return void socket.destroy()
      pipePort(socket, await connection.acceptByDialBack(), precedence)
    },
    connectGit: ({ dockId, connectionId }, connection) => {
      const socket = gitConnections.take(dockId, connectionId)
      if (!socket) throw new AgentRefusal('not_found', 'the connection is gone')
      if (connection.gone.aborted) return void socket.destroy()
      pipePort(socket, connection.accept(), precedence)
    },
  } satisfies Partial<Handlers>
}
