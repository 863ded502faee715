/** GET /v1/github/runs/:id/log and /v1/github/runs/:id/cost */
import { limits, type RunCost, type RunLogPart } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import type { RunContext } from '../run-context.ts'
import { readCost, readLog } from '../turn-store.ts'
import { type OfWorkspace, requireRun } from './read-runs.ts'

/** Returns a part of the log of a turn. An unknown turn has an empty log. */
export async function readRunLog(
  context: Pick<RunContext, 'db'>,
  caller: Visitor,
  id: string,
  query: OfWorkspace & { turn?: number | undefined; offset: number },
): Promise<RunLogPart> {
  const run = await requireRun(context, caller, id, query)
  const turn = query.turn ?? run.turn
  return { turn, ...(await readLog(context.db, run.id, turn, query.offset, limits.runs.logPartBytesMax)) }
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
