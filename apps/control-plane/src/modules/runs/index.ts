/** Public interface of the runs module: GitHub Runs, the work of coding agents on issues. */

export { type BudgetGate, createBudgetGate } from './door/budget-gate.ts'
export { costMicroUsd } from './door/model-prices.ts'
export {
  createUsageReader,
  estimateTokens,
  estimateUnseenTokens,
  type UsageReader,
} from './door/read-usage.ts'
export { type RunAtDoor, type RunDoor, reportBytesMax } from './door/run-at-door.ts'
export { createRunsModule, type RunsModule } from './module.ts'
export { promoteRun } from './promote-run.ts'
export { readRunCost, readRunLog } from './read-run-log.ts'
export { listRuns, readRun } from './read-runs.ts'
export type { RunContext } from './run-context.ts'
export { runSealedColumn } from './run-sealed-column.ts'
export { countRunsAtWork } from './runs-at-work.ts'
export { startRun } from './start-run.ts'
export { stopRun } from './stop-run.ts'
