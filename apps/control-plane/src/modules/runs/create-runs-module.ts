import type { RunContext } from './run-context.ts'

export type RunsModule = { context: RunContext }

export function createRunsModule({ db, clock, docks }: RunContext): RunsModule {
  return { context: { db, clock, docks } }
}
