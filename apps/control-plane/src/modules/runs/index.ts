/** Public interface of the runs module: GitHub Runs, the work of coding agents on issues. */

export { createRunsModule, type RunsModule } from './create-runs-module.ts'
export { promoteRun } from './routes/promote-run.ts'
export { readRunCost, readRunLog } from './routes/read-run-log.ts'
export { listRuns, readRun } from './routes/read-runs.ts'
export { stopRun } from './routes/stop-run.ts'
export type { RunContext } from './run-context.ts'
