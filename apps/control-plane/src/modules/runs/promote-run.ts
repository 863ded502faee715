/** POST /v1/github/runs/:id/promote */
import { limits, type Run, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { type Tx, withTransaction } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { adoptMachine, quotaOf, requireLaunchable } from '../docks/index.ts'
import { lockQuota, requireQuota } from '../limits/index.ts'
import { keepRunningMs } from './keep-running.ts'
import { insertRunEvents } from './move-run.ts'
import { type OfWorkspace, requireRun } from './read-runs.ts'
import type { RunContext } from './run-context.ts'
import type { RunRow } from './run-store.ts'
import { targetOf, viewRun } from './run-view.ts'

/**
 * Makes a Dock of the live machine of a fast Run, in place, or turns a fast Run that waits into one in a Dock. The Dock
 * belongs to the caller, who must be allowed to create it. Throws `run_not_promotable` for every other Run.
 */
export async function promoteRun(
  context: RunContext,
  caller: Visitor,
  id: string,
  query: OfWorkspace,
): Promise<Run> {
  const { db } = context
  const run = await requireRun(context, caller, id, query)
  if (run.executionTarget !== 'fast') throw new ServiceError('run_not_promotable')
  await withTransaction(db, async (tx) => {
    await lockQuota(tx, run.organizationId)
    const { rows } = await sql<Pick<RunRow, 'state'>>`select state from runs
      where id = ${id} and execution_target = 'fast' and stop_reason is null for update`.execute(tx)
    const state = rows[0]?.state
    if (state === 'pending') return promotePending(context, tx, caller, run)
    const isLive = state === 'provisioning' || state === 'working' || state === 'pr_opened'
    const dockId = isLive ? await adoptMachine(context.docks, tx, caller, { ...run, runId: id }) : null
    if (dockId === null) throw new ServiceError('run_not_promotable')
    await saveTarget(context, tx, caller, run, dockId)
  })
  return viewRun(await requireRun(context, caller, id, query))
}

const promotePending = async (context: RunContext, tx: Tx, caller: Visitor, run: RunRow): Promise<void> => {
  const { organizationId, workspaceId, settings } = run
  const { docks } = context
  const { environment } = settings
  await requireLaunchable({ db: tx, clock: docks.clock }, caller, { workspaceId, environment })
  const size = { cpus: limits.cpus.default, memoryMiB: limits.memoryMiB.default }
  await requireQuota(tx, quotaOf(docks, organizationId), { ...size, diskGiB: limits.diskGiB.default })
  await saveTarget(context, tx, caller, run, null)
}

const saveTarget = async (
  { clock }: RunContext,
  tx: Tx,
  caller: Visitor,
  run: RunRow,
  dockId: string | null,
): Promise<void> => {
  const now = clock.now()
  await sql`
    with promoted as (update runs r set execution_target = 'dock', dock_id = ${dockId}::uuid,
        created_by = ${caller.userId}, updated_at = ${now},
        archive_at = case r.state when 'pr_opened' then ${new Date(now.getTime() + keepRunningMs.dock)}::timestamptz end
      where r.id = ${run.id} returning r.id)
    ${insertRunEvents(sql`promoted`, ['promoted'], now)}`.execute(tx)
  await recordAudit(tx, caller, {
    action: 'run.promoted',
    now,
    ...targetOf(run),
    details: { dock: dockId },
  })
}
