/** POST /v1/github/runs/:id/stop */
import { liveRunStates, type Run, roleReaches, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { retentionEnabled, type Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { type OfWorkspace, requireRun } from './read-runs.ts'
import type { RunContext } from './run-context.ts'
import { targetOf, viewRun } from './run-view.ts'
import { askToStop } from './stop-requests.ts'

/**
 * Asks for the end of the Run, and returns the Run. Repeating it is harmless. With zero data retention, the end deletes
 * the data of the Run's Dock, so only the person who created that Dock and admins may ask (`forbidden`).
 */
export async function stopRun(
  context: RunContext,
  caller: Visitor,
  id: string,
  query: OfWorkspace,
): Promise<Run> {
  const run = await requireRun(context, caller, id, query)
  if (!liveRunStates.includes(run.state)) return viewRun(run)
  const mayDelete = run.createdBy === caller.userId || roleReaches(run.role, 'admin')
  if (run.dockId !== null && !mayDelete && (await retentionEnabled(context.db, run.organizationId)))
    throw new ServiceError('forbidden')
  const now = context.clock.now()
  await withTransaction(context.db, async (tx) => {
    const isFirst = await askToStop(tx, { runId: id, reason: 'Stopped by a member of the workspace.', now })
    if (isFirst) await recordAudit(tx, caller, { action: 'run.stopped', now, ...targetOf(run) })
  })
  return viewRun(await requireRun(context, caller, id, query))
}
