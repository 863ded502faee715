/** Routes of GitHub Runs. */
import type { Handlers } from '../../routing/handler.ts'
import { promoteRun } from './promote-run.ts'
import { readRunCost, readRunLog } from './read-run-log.ts'
import { listRuns, readRun } from './read-runs.ts'
import type { RunContext } from './run-context.ts'
import { startRun } from './start-run.ts'
import { stopRun } from './stop-run.ts'

export function runRoutes(context: RunContext): Handlers {
  return {
    listRuns: async ({ caller, query }) => listRuns(context, caller, query),
    readRun: ({ caller, params, query }) => readRun(context, caller, params.id, query),
    startRun: ({ caller, body, idempotencyKey }) => startRun(context, caller, body, idempotencyKey),
    promoteRun: ({ caller, params, query }) => promoteRun(context, caller, params.id, query),
    stopRun: ({ caller, params, query }) => stopRun(context, caller, params.id, query),
    readRunLog: ({ caller, params, query }) => readRunLog(context, caller, params.id, query),
    readRunCost: ({ caller, params, query }) => readRunCost(context, caller, params.id, query),
  }
}
