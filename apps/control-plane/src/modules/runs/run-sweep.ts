/** What becomes of Runs with time: their Docks are archived, and a Dock that a person stopped ends its Run. */
import { sql } from 'kysely'
import { beginStop, findDock } from '../docks/index.ts'
import type { TurnParts } from './saga/turn-context.ts'
import { askRunsToStop } from './stop-requests.ts'

export const sweepEveryMs = 10_000
const batch = 20

/** Ends Runs whose Dock a person has stopped or deleted while their pull request was open. */
const endWithoutDock = async ({ db, clock }: TurnParts): Promise<void> => {
  // Before the platform archives a Dock itself, it clears `archive_at`.
  await askRunsToStop(
    db,
    sql<boolean>`r.state = 'pr_opened' and (r.dock_id is null or (r.archive_at is not null and exists (
      select 1 from docks d where d.id = r.dock_id and d.state in ('archiving', 'archived'))))`,
    { reason: 'Its Dock was stopped or deleted.', now: clock.now() },
  )
}

/** Archives the Docks of Runs whose time is over. */
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

export async function sweepRuns(parts: TurnParts): Promise<void> {
  await endWithoutDock(parts)
  await archiveDocks(parts)
}
