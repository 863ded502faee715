import { createOpenStreams } from './open-streams.ts'
import type { ProcessContext } from './process-context.ts'

export type ProcessesModule = { context: ProcessContext }

export function createProcessesModule(needs: Omit<ProcessContext, 'streams' | 'keyed'>): ProcessesModule {
  const { db, clock, rateLimits, hosts, activity, accessSignals } = needs
  return {
    context: {
      ...{ db, clock, rateLimits, hosts, activity, accessSignals },
      streams: createOpenStreams(),
      keyed: new Map(),
    },
  }
}
