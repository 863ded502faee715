/** Connections from the control plane to processes, ports and git connections of Docks. */
import * as protocol from '@dock/host-protocol'
import * as z from 'zod'
import { AgentRefusal, toAgentRefusal } from '../docks/agent-refusal.ts'
import type { Dock } from '../docks/dock.ts'
import { pipePort } from '../ports/pipe-port.ts'
import { pipeProcess } from '../processes/pipe-process.ts'
import type { HostView } from './host-view.ts'
import { parse, parseJson, parseUuid } from './read-request.ts'
import { refusalStatus } from './refusal-status.ts'

const path = /^\/docks\/([^/]+)\/(processes|ports|git)\/([^/]+)$/
const portNumber = z.coerce.number().int().min(1).max(65_535)

/** Returns a handler that accepts or refuses each connection as the host protocol specifies. */
export function createConnectHandler({
  docks,
  gitConnections,
  precedence,
  logger,
}: HostView): protocol.ConnectHandler {
  const known = (dockId: string): Dock => {
    const dock = docks.find(parseUuid(dockId))
    if (!dock) throw new AgentRefusal('not_running', 'this host does not know the Dock')
    return dock
  }

  const takeProcess = async (
    connection: protocol.IncomingConnection,
    dock: Dock,
    name: string,
    query: unknown,
  ): Promise<void> => {
    const { waitsForOutputs } = parse(protocol.processQuery, query)
    const message = await connection.readMessage(protocol.openProcessBytesMax).catch((error: Error) => {
      throw new AgentRefusal('invalid', error.message)
    })
    precedence.take()
    connection.beginDialBack()
    const request = parse(protocol.openProcess, parseJson(message))
    const opened = await dock.openProcess(parseUuid(name), request, {
      waitsForOutputs: waitsForOutputs !== undefined,
    })
    if (connection.gone.aborted) return opened.hangUp()
    pipeProcess(opened, await connection.acceptByDialBack(), precedence)
  }

  const takePort = async (
    connection: protocol.IncomingConnection,
    dock: Dock,
    name: string,
    query: unknown,
  ): Promise<void> => {
    const socket = await dock.connectPort(parse(portNumber, name), parse(protocol.connectPort, query))
    if (connection.gone.aborted) return void socket.destroy()
    pipePort(socket, await connection.acceptByDialBack(), precedence)
  }

  const takeGit = (connection: protocol.IncomingConnection, dockId: string, name: string): void => {
    const socket = gitConnections.take(parseUuid(dockId), parseUuid(name))
    if (!socket) throw new AgentRefusal('not_found', 'the connection is gone')
    if (connection.gone.aborted) return void socket.destroy()
    pipePort(socket, connection.accept(), precedence)
  }

  return async (connection) => {
    const { pathname, searchParams } = connection.target
    try {
      const [, dockId = '', kind, name = ''] = path.exec(pathname) ?? []
      if (!kind) throw new AgentRefusal('not_found', 'no such path')
      if (kind === 'git') return takeGit(connection, dockId, name)
      const query = Object.fromEntries(searchParams)
      const take = { processes: takeProcess, ports: takePort }[kind]
      await take?.(connection, known(dockId), name, query)
    } catch (error) {
      const { code, message } = toAgentRefusal(error)
      if (code === 'failed')
        logger.warn({ err: error, path: pathname }, 'could not open a connection to a Dock')
      connection.refuse(refusalStatus[code], { code, message })
    }
  }
}
