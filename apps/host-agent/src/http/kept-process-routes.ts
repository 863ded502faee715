/** The agent's routes of kept processes, as defined in `kept-process-messages.ts` of the host protocol. */
import { Readable } from 'node:stream'
import { bodyOf, readableOf } from '@dock/foundation'
import * as protocol from '@dock/host-protocol'
import type { Context, Hono } from 'hono'
import { AgentRefusal } from '../docks/agent-refusal.ts'
import type { Dock } from '../docks/dock.ts'
import type { HostView } from './host-view.ts'
import { parse, readBody, uuidParameter } from './read-request.ts'

const places = (context: Context): [string, string] => [
  uuidParameter(context, 'dockId'),
  uuidParameter(context, 'processId'),
]

const knownDock = ({ docks }: HostView, context: Context): Dock => {
  const dock = docks.find(uuidParameter(context, 'dockId'))
  if (!dock) throw new AgentRefusal('not_running', 'this host does not know the Dock')
  return dock
}

/** Adds the routes that stream bodies of any length. They must be added before the limit of bodies. */
export function addKeptStreamRoutes(app: Hono, view: HostView): void {
  const { keeper } = view
  app.get('/docks/:dockId/kept/:processId/output/:stream', async (context) => {
    const [dockId, processId] = places(context)
    const stream = parse(protocol.keptStream, context.req.param('stream'))
    const query = parse(protocol.keptOutputQuery, context.req.query())
    knownDock(view, context).kept.require(processId)
    const { first, start, body } = await keeper.openOutput(dockId, processId, stream, query)
    return new Response(bodyOf(body), {
      headers: {
        'content-type': 'application/octet-stream',
        [protocol.firstOffsetHeader]: String(first),
        [protocol.startOffsetHeader]: String(start),
      },
    })
  })
  app.post('/docks/:dockId/kept/:processId/stdin', async (context) => {
    const [dockId, processId] = places(context)
    const { offset } = parse(protocol.keptInputQuery, context.req.query())
    knownDock(view, context).kept.require(processId)
    const { body } = context.req.raw
    const bytes = body ? readableOf(body) : Readable.from([])
    const written = keeper.writeInput(dockId, processId, offset, bytes).catch((error: unknown) => {
      // A caller who leaves in the middle is usual, and no failure of this host.
      throw bytes.errored ? new AgentRefusal('conflict', 'the input broke off') : error
    })
    return context.json(await written)
  })
}

/** Adds the other routes. */
export function addKeptProcessRoutes(app: Hono, view: HostView): void {
  const { keeper, precedence } = view
  app.post('/docks/:dockId/kept', async (context) => {
    precedence.take()
    const request = await readBody(context, protocol.startKeptProcess)
    return context.json(await knownDock(view, context).kept.start(request))
  })
  app.get('/docks/:dockId/kept', async (context) =>
    context.json({ processes: await knownDock(view, context).kept.list() }),
  )
  app.get('/docks/:dockId/kept/:processId', async (context) =>
    context.json(await knownDock(view, context).kept.read(uuidParameter(context, 'processId'))),
  )
  app.get('/docks/:dockId/kept/:processId/wait', async (context) => {
    const { ms } = parse(protocol.waitQuery, context.req.query())
    return context.json(await knownDock(view, context).kept.wait(uuidParameter(context, 'processId'), ms))
  })
  app.post('/docks/:dockId/kept/:processId/signal', async (context) => {
    const signal = await readBody(context, protocol.signalKeptProcess)
    await knownDock(view, context).kept.signal(uuidParameter(context, 'processId'), signal)
    return context.json({})
  })
  app.post('/docks/:dockId/kept/:processId/resize', async (context) => {
    const size = await readBody(context, protocol.terminalSize)
    await knownDock(view, context).kept.resize(uuidParameter(context, 'processId'), size)
    return context.json({})
  })
  app.post('/docks/:dockId/kept/:processId/stdin/close', async (context) => {
    const [dockId, processId] = places(context)
    knownDock(view, context).kept.require(processId)
    await keeper.closeInput(dockId, processId)
    return context.json({})
  })
}
