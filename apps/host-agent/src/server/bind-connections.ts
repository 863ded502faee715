/** Serves the connections of the host protocol: passes each to its handler, which accepts or refuses it. */
import type { Logger } from '@dock/foundation'
import {
  type ConnectHandler,
  type IncomingConnection,
  openProcessBytesMax,
  type Route,
  routes,
} from '@dock/host-protocol'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { Handlers } from './bind-calls.ts'
import { parse, parseJson, targetReader } from './read-request.ts'
import { refusalStatus } from './refusal-status.ts'
import { toAgentRefusal } from './to-agent-refusal.ts'

type Serve = (connection: IncomingConnection, parameters: Record<string, string>) => Promise<void>

/** Returns a handler of all connections. */
export function bindConnections(handlers: Handlers, logger: Logger): ConnectHandler {
  const served = Object.entries<Route>(routes).flatMap(([name, route]) => {
    if (route.kind !== 'connection') return []
    const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
    const handler = handlers[name as keyof Handlers] as (...arrived: unknown[]) => Promise<void>
    return [{ pattern, serve: serverOf(route, handler) }]
  })
  const take = async (connection: IncomingConnection): Promise<void> => {
    for (const { pattern, serve } of served) {
      const found = pattern.exec(connection.target.pathname)
      if (found) return serve(connection, found.groups ?? {})
    }
    throw new AgentRefusal('not_found', 'no such path')
  }
  return (connection) =>
    take(connection).catch((error: unknown) => {
      const { code, message } = toAgentRefusal(error)
      if (code === 'failed')
        logger.warn({ err: error, path: connection.target.pathname }, 'could not open a connection to a Dock')
      connection.refuse(refusalStatus[code], { code, message })
    })
}

const serverOf = (route: Route, handler: (...arrived: unknown[]) => unknown): Serve => {
  const targetOf = targetReader(route)
  return async (connection, parameters) => {
    const target = targetOf((name) => parameters[name])
    const arrived: unknown[] = []
    if (route.query) arrived.push(parse(route.query, Object.fromEntries(connection.target.searchParams)))
    if (route.body) {
      const message = await connection.readMessage(openProcessBytesMax).catch((error: Error) => {
        throw new AgentRefusal('invalid', error.message)
      })
      arrived.push(parse(route.body, parseJson(message)))
    }
    await handler(target, ...arrived, connection)
  }
}
