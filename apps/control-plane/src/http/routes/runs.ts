/** Routes of GitHub Runs. */
import {
  listRuns,
  promoteRun,
  type RunContext,
  readRun,
  readRunCost,
  readRunLog,
  startRun,
  stopRun,
} from '../../modules/runs/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function runHandlers(context: RunContext): Handlers {
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
