/** The agent's side of the host protocol: its calls, and the connections to its Docks. Served over the links only. */
import type { agentError, ConnectHandler } from '@dock/host-protocol'
import { Hono } from 'hono'
import type * as z from 'zod'
import { bindCalls, type Handlers } from './bind-calls.ts'
import { bindConnections } from './bind-connections.ts'
import { captureHandlers } from './capture-handlers.ts'
import { connectionHandlers } from './connection-handlers.ts'
import { dockHandlers } from './dock-handlers.ts'
import { hostHandlers } from './host-handlers.ts'
import type { HostView } from './host-view.ts'
import { imageHandlers } from './image-handlers.ts'
import { keptProcessHandlers } from './kept-process-handlers.ts'
import { refusalStatus } from './refusal-status.ts'
import { toAgentRefusal } from './to-agent-refusal.ts'

/** Creates the agent's HTTP application, and the handler of connections. */
export function createAgentApp(view: HostView): { app: Hono; connect: ConnectHandler } {
  const handlers: Handlers = {
    ...hostHandlers(view),
    ...dockHandlers(view),
    ...connectionHandlers(view),
    ...keptProcessHandlers(view),
    ...captureHandlers(view),
    ...imageHandlers(view),
  }
  const app = new Hono()
  bindCalls(app, handlers)
  app.notFound((context) => context.json({ code: 'not_found', message: 'no such path' }, 404))
  app.onError((error, context) => {
    const { code, message } = toAgentRefusal(error)
    // The signal aborts only if the caller has left.
    if (code === 'failed' && !context.req.raw.signal.aborted)
      view.logger.error({ err: error, path: context.req.path }, 'command failed')
    return context.json({ code, message } satisfies z.infer<typeof agentError>, refusalStatus[code])
  })
  return { app, connect: bindConnections(handlers, view.logger) }
}
