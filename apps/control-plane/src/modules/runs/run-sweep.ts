/** Timers of Runs: archives or ends their machines, and ends Runs whose Dock a person has stopped. */
import { liveRunStates } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { awaitsReport, beginStop, findDock } from '../docks/index.ts'
import type { TurnParts } from './saga/turn-context.ts'
import { askRunsToStop } from './stop-requests.ts'

export const sweepEveryMs = 10_000
const batch = 20

/** Ends Runs whose Dock a person has stopped or deleted while their pull request was open. */
const endWithoutDock = async ({ db, clock }: TurnParts): Promise<void> => {
  // Before the platform archives a Dock itself, it clears `archive_at`.
  await askRunsToStop(
    db,
    sql<boolean>`r.state = 'pr_opened' and r.execution_target = 'dock' and (r.dock_id is null
      or (r.archive_at is not null and exists (
        select 1 from docks d where d.id = r.dock_id and d.state in ('archiving', 'archived'))))`,
    { reason: 'Its Dock was stopped or deleted.', now: clock.now() },
  )
}

/** Ends fast Runs whose owner has closed the account. The Docks of such a person are stopped, which ends other Runs. */
const endWithoutOwner = async ({ db, clock }: TurnParts): Promise<void> => {
  await askRunsToStop(
    db,
    sql<boolean>`r.execution_target = 'fast' and r.state <> 'pending' and r.stop_reason is null and not exists (
      select 1 from users u where u.id = r.created_by and u.closed_at is null)`,
    { reason: 'The person who linked the installation has closed the account.', now: clock.now() },
  )
}

/** Archives the Docks of Runs whose time is over. The machines of fast Runs are ended below. */
const archiveDocks = async (parts: TurnParts): Promise<void> => {
  const { db, clock, docks, logger } = parts
  const { rows } = await sql<{ organizationId: string; dockId: string | null }>`
    update runs r set archive_at = null where r.id in (
      select id from runs where archive_at <= ${clock.now()} order by archive_at limit ${batch} for update skip locked)
    returning r.organization_id as "organizationId", r.dock_id as "dockId"`.execute(db)
  for (const { organizationId, dockId } of rows) {
    const dock = dockId === null ? null : await findDock(db, organizationId, dockId)
    if (!dock || dock.state === 'archived' || dock.state === 'archiving') continue
    await beginStop(docks, dock, { by: 'runs', through: 'timer', why: 'run ended' }).catch((error: unknown) =>
      logger.warn({ dockId, err: error }, 'could not archive the Dock of a Run'),
    )
  }
}

/** SQL predicate on a machine `m` and its Run `r`: true if the machine has nothing to do and is not kept. */
const isOver: RawBuilder<boolean> = sql<boolean>`(r.id is null or not r.state = any(${liveRunStates})
    or (r.state = 'pr_opened' and r.archive_at is null))
  and not exists (select 1 from operations o
    where o.target_type = 'run' and o.target_id = m.run_id and o.status <> 'completed')`

/**
 * Ends machines whose Run has ended or whose idle time is over, and deletes sessions that no turn will continue. In
 * random order, so that machines that cannot be ended now do not keep the others from being ended.
 */
const endMachines = async ({ db, machines, logger }: TurnParts): Promise<void> => {
  const { rows } = await sql<{ id: string; hostId: string; generation: number }>`
    select m.id, m.host_id as "hostId", m.generation from run_machines m left join runs r on r.id = m.run_id
    where m.state <> 'ended' and ${isOver} and not ${awaitsReport}
    order by random() limit ${batch}`.execute(db)
  for (const machine of rows)
    await machines
      .end(machine)
      .catch((error: unknown) =>
        logger.warn({ machineId: machine.id, err: error }, 'could not end the machine of a Run'),
      )
  await sql`update runs set session_sealed = null
    where session_sealed is not null and not state = any(${liveRunStates})`.execute(db)
}

export async function sweepRuns(parts: TurnParts): Promise<void> {
  await endWithoutDock(parts)
  await endWithoutOwner(parts)
  await archiveDocks(parts)
  await endMachines(parts)
}
