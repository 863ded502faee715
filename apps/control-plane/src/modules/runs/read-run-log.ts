/** GET /v1/github/runs/:id/log and /v1/github/runs/:id/cost */
import { limits, liveRunStates, type RunCost, type RunLogPart } from '@dock/contract'
import { waitAtMost } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { type OfWorkspace, requireRun } from './read-runs.ts'
import type { RunContext } from './run-context.ts'
import { readCost, readLog } from './turn-store.ts'

type LogQuery = OfWorkspace & { turn?: number | undefined; offset: number; waitSeconds: number }

/**
 * Returns a part of the log of a turn. An unknown turn has an empty log. If the offset is the end of the log, waits until
 * the log grows or ends, the Run ends, or the time has passed.
 */
export async function readRunLog(
  context: Pick<RunContext, 'db' | 'clock' | 'logSignals'>,
  caller: Visitor,
  id: string,
  query: LogQuery,
): Promise<RunLogPart> {
  const { db, clock, logSignals } = context
  const until = clock.now().getTime() + query.waitSeconds * 1000
  let turn = query.turn
  for (;;) {
    const watch = logSignals.watch(id)
    try {
      // Read again after each wait, because the caller may have lost access meanwhile.
      const run = await requireRun(context, caller, id, query)
      turn ??= run.turn
      const part = await readLog(db, run.id, turn, query.offset, limits.runs.logPartBytesMax)
      const leftMs = until - clock.now().getTime()
      if (part.text !== '' || part.isComplete || leftMs <= 0 || !liveRunStates.includes(run.state))
        return { turn, ...part }
      await waitAtMost(clock, leftMs, watch.changed)
    } finally {
      watch.end()
    }
  }
}

/** Returns what all turns of the Run have cost so far. */
export async function readRunCost(
  context: Pick<RunContext, 'db'>,
  caller: Visitor,
  id: string,
  query: OfWorkspace,
): Promise<RunCost> {
  const run = await requireRun(context, caller, id, query)
  const { costMicroUsd, ...tokens } = await readCost(context.db, run.id)
  return { ...tokens, costUsd: costMicroUsd / 1e6, budgetUsd: run.settings.budgetUsd }
}
