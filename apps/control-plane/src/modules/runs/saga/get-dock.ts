/** The Dock of a Run: made once, resumed for feedback. */
import { type RouteBody, routes } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { createDock, findDock, resumeDock } from '../../docks/index.ts'
import { insertRunEvents } from '../move-run.ts'
import type { RunRow } from '../run-store.ts'
import { ownerOf, type WantedTurn } from './machine-owner.ts'
import type { TurnParts } from './turn-context.ts'

/** SQL that gives the Run the Dock of the relation `born`. A Run that was stopped meanwhile does not take it. */
const takeDock = (run: RunRow, now: Date): RawBuilder<unknown>[] => [
  sql`run as (update runs r set dock_id = born.id, state = 'provisioning', updated_at = ${now} from born
    where r.id = ${run.id} and r.state = 'pending' and r.stop_reason is null returning r.id)`,
  sql`run_told as (${insertRunEvents(sql`run`, ['provisioning'], now)})`,
]

/** Creates or resumes the Dock. Returns null once that is done, or why it must be tried again. */
export async function bringUpDock(
  { db, docks, image }: TurnParts,
  run: RunRow,
  { turn, hasOutsiderText }: WantedTurn,
): Promise<string | null> {
  if (run.dockId !== null) {
    const dock = await findDock(db, run.organizationId, run.dockId)
    // Only later turns resume the Dock. If it is stopped in the first turn, a person stopped it, and the Run ends.
    if (turn > 1 && dock?.state === 'archiving') return 'Its Dock is being archived.'
    if (turn > 1 && dock?.state === 'archived')
      await resumeDock(docks, ownerOf(run, 'resumeDock'), run.dockId, { ttlSeconds: null })
    return null
  }
  // The line break keeps this key apart from those of callers: a header cannot carry one.
  await createDock(
    docks,
    ownerOf(run, 'createDock'),
    bodyFor(run, image, hasOutsiderText),
    `run\n${run.id}`,
    (now) => takeDock(run, now),
  )
  return null
}

const bodyFor = (
  { workspaceId, settings }: RunRow,
  image: string | null,
  hasOutsiderText: boolean,
): RouteBody<(typeof routes)['createDock']> =>
  routes.createDock.body.parse({
    workspaceId,
    ttlSeconds: null,
    noEnv: hasOutsiderText,
    ...(image === null ? {} : { image }),
    ...(settings.environment === null ? {} : { environment: settings.environment }),
  })
