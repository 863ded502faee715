import type { Handlers } from '../../routing/handler.ts'
import { createOpenStreams } from './open-streams.ts'
import type { ProcessContext } from './process-context.ts'
import { processRoutes } from './routes.ts'

export type ProcessesModule = { context: ProcessContext; routes: Handlers }

export function createProcessesModule(needs: Omit<ProcessContext, 'streams' | 'keyed'>): ProcessesModule {
  const { db, clock, rateLimits, hosts, activity, accessSignals } = needs
  const context: ProcessContext = {
    db,
    clock,
    rateLimits,
    hosts,
    activity,
    accessSignals,
    streams: createOpenStreams(),
    keyed: new Map(),
  }
  return { context, routes: processRoutes(context) }
}
