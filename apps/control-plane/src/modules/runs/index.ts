/** Public interface of the runs module: GitHub Runs, the work of coding agents on issues. */

export { createBudgetGate } from './door/budget-gate.ts'
export { costMicroUsd } from './door/model-prices.ts'
export {
  createUsageReader,
  estimateTokens,
  estimateUnseenTokens,
  type UsageReader,
} from './door/read-usage.ts'
export { type RunAtDoor, type RunDoor, reportBytesMax } from './door/run-at-door.ts'
export { createRunsModule, type RunsModule } from './module.ts'
export { runSealedColumn } from './run-sealed-column.ts'
export { countRunsAtWork } from './runs-at-work.ts'
