/** The agent's HTTP routes, as defined in `messages.ts` of the host protocol. Served over the link only. */
import * as protocol from '@dock/host-protocol'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type * as z from 'zod'
import { AgentRefusal, toAgentRefusal } from '../docks/agent-refusal.ts'
import type { Dock } from '../docks/dock.ts'
import { addCaptureRoutes } from './capture-routes.ts'
import { createEventStream } from './event-stream.ts'
import type { HostView } from './host-view.ts'
import { addImageRoutes } from './image-routes.ts'
import { addKeptProcessRoutes, addKeptStreamRoutes } from './kept-process-routes.ts'
import { readBody, uuidParameter } from './read-request.ts'
import { refusalStatus } from './refusal-status.ts'

/** A start command can contain 1 MiB of secret files of an Environment, encoded as JSON. */
const bodyBytesMax = 8 * 1024 * 1024

/** Creates the agent's HTTP application. */
export function createAgentApp(view: HostView): Hono {
  const { docks, warmPool, instance, precedence, logger } = view
  const app = new Hono()
  const knownDock = (context: Context): Dock => {
    const dock = docks.find(uuidParameter(context, 'dockId'))
    if (!dock) throw new AgentRefusal('not_running', 'this host does not know the Dock')
    return dock
  }
  // Registered before the body limit: a restore sends a whole disk.
  addCaptureRoutes(app, view)
  addImageRoutes(app, view)
  addKeptStreamRoutes(app, view)
  app.use(bodyLimit({ maxSize: bodyBytesMax }))

  for (const order of ['start', 'stop', 'capture', 'destroy'])
    app.use(`/docks/:dockId/${order}`, (_context, next) => precedence.during(next))

  app.post('/docks/:dockId/start', async (context) => {
    const command = await readBody(context, protocol.startDock)
    return context.json(await docks.getForCommand(uuidParameter(context, 'dockId')).start(command))
  })
  app.post('/docks/:dockId/stop', async (context) => {
    const command = await readBody(context, protocol.stopDock)
    return context.json(await docks.getForCommand(uuidParameter(context, 'dockId')).stop(command))
  })
  app.post('/docks/:dockId/capture', async (context) => {
    const command = await readBody(context, protocol.captureDock)
    return context.json(await docks.getForCommand(uuidParameter(context, 'dockId')).capture(command))
  })
  app.post('/docks/:dockId/destroy', async (context) => {
    const command = await readBody(context, protocol.destroyDock)
    await instance.requireCurrent(command.epoch)
    return context.json(await docks.getForCommand(uuidParameter(context, 'dockId')).destroy(command))
  })
  app.post('/docks/:dockId/environment', async (context) => {
    const request = await readBody(context, protocol.updateDockEnvironment)
    return context.json(await docks.getForCommand(uuidParameter(context, 'dockId')).furnish(request))
  })
  app.post('/docks/:dockId/exec', async (context) => {
    precedence.take()
    const request = await readBody(context, protocol.execInDock)
    return context.json(await knownDock(context).exec(request, context.req.raw.signal))
  })
  app.post('/docks/:dockId/setup', async (context) => {
    const request = await readBody(context, protocol.setupDock)
    return context.json(await knownDock(context).setup(request))
  })
  app.post('/docks/:dockId/repositories', async (context) => {
    const request = await readBody(context, protocol.cloneRepositories)
    return context.json(await knownDock(context).cloneRepositories(request))
  })
  app.post('/instance', async (context) => {
    await instance.keep(await readBody(context, protocol.keepInstance))
    return context.json({})
  })
  app.get('/instance', async (context) => context.json(await instance.read()))
  app.post('/pool', async (context) => {
    const { kind, second } = await readBody(context, protocol.keepWarmPool)
    warmPool.keep(kind, second)
    return context.json({})
  })
  app.post('/docks/:dockId/processes/:processId/resize', async (context) => {
    const size = await readBody(context, protocol.terminalSize)
    const dock = docks.find(uuidParameter(context, 'dockId'))
    dock?.resizeProcess(uuidParameter(context, 'processId'), size)
    return context.json({})
  })
  app.post('/docks/:dockId/processes/:processId/signal', async (context) => {
    const { signal } = await readBody(context, protocol.signalProcess)
    const dock = docks.find(uuidParameter(context, 'dockId'))
    await dock?.signalProcess(uuidParameter(context, 'processId'), signal)
    return context.json({})
  })

  addKeptProcessRoutes(app, view)

  app.get('/events', () => {
    const headers = { 'content-type': 'application/x-ndjson' }
    return new Response(createEventStream(view), { headers })
  })

  app.notFound((context) => context.json({ code: 'not_found', message: 'no such path' }, 404))
  app.onError((error, context) => {
    const { code, message } = toAgentRefusal(error)
    // The signal aborts only if the caller has left.
    if (code === 'failed' && !context.req.raw.signal.aborted)
      logger.error({ err: error, path: context.req.path }, 'command failed')
    return context.json({ code, message } satisfies z.infer<typeof protocol.agentError>, refusalStatus[code])
  })
  return app
}
