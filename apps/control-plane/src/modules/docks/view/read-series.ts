/** GET /api/dashboard/docks/:id/series */
import type { DockSeries } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { readUsageSteps } from '../usage/usage-store.ts'

/** At most 60 and 144 points, which a plot can show. */
const windows = {
  '1h': { seconds: 3600, stepSeconds: 60 },
  '24h': { seconds: 86_400, stepSeconds: 600 },
} as const

/** Returns a Dock's usage in equal steps of time. The current minute is not in it. Throws `dock_not_found`. */
export async function readDockSeries(
  context: Pick<DockContext, 'db' | 'clock'>,
  caller: Visitor,
  id: string,
  { window }: { window: keyof typeof windows },
): Promise<DockSeries> {
  await requireDock(context, caller, id)
  const { seconds, stepSeconds } = windows[window]
  const since = new Date(context.clock.now().getTime() - seconds * 1000)
  const steps = await readUsageSteps(context.db, id, since, stepSeconds)
  return {
    window,
    stepSeconds,
    points: steps.map(({ at, ...figures }) => ({ at: at.toISOString(), ...figures })),
  }
}
