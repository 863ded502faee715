/** POST /v1/github/runs/:id/promote */
import { type Run, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import { requireLaunchable } from '../../docks/index.ts'
import type { RunContext } from '../run-context.ts'
import { viewRun } from '../run-view.ts'
import { type OfWorkspace, requireRun } from './read-runs.ts'

/**
 * Turns a Fast Run that waits for its machine into one in a Dock, which then belongs to the caller. So the caller must be
 * allowed to create such a Dock. Throws `run_not_promotable` for every other Run.
 */
export async function promoteRun(
  context: RunContext,
  caller: Visitor,
  id: string,
  query: OfWorkspace,
): Promise<Run> {
  const { db, clock, docks } = context
  const run = await requireRun(context, caller, id, query)
  if (run.executionTarget !== 'fast' || run.state !== 'pending') throw new ServiceError('run_not_promotable')
  const { workspaceId, settings } = run
  await requireLaunchable(docks, caller, { workspaceId, environment: settings.environment })
  const { rows } = await sql`
    with promoted as (update runs r set execution_target = 'dock', created_by = ${caller.userId}, updated_at = ${clock.now()}
      where r.id = ${id} and r.execution_target = 'fast' and r.state = 'pending' and r.stop_reason is null returning r.id),
    told as (insert into run_events (run_id, type, at) select id, 'promoted', ${clock.now()} from promoted)
    select id from promoted`.execute(db)
  if (rows.length === 0) throw new ServiceError('run_not_promotable')
  return viewRun(await requireRun(context, caller, id, query))
}
