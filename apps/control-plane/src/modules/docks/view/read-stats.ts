/** GET /v1/docks/:id/stats */
import type { DockStats } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { statesWithoutRuntime } from '../core/dock-state.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { readUsage } from '../usage/usage-store.ts'
import { addTotals, viewTotal } from '../usage/usage-total.ts'

const windowMs = { '1h': 3_600_000, '24h': 86_400_000 }

/** Returns the last sample of a Dock that has a runtime and, if a window is given, its average and peak in that window. */
export async function readDockStats(
  context: DockContext,
  caller: Visitor,
  id: string,
  { window }: { window?: keyof typeof windowMs | undefined },
): Promise<DockStats> {
  const { db, clock, usage } = context
  const dock = await requireDock(context, caller, id)
  const sample = statesWithoutRuntime.includes(dock.state) ? null : usage.last(id, dock.generation)
  const answer = { dockId: id, state: dock.state, sample }
  if (window === undefined) return answer
  const since = new Date(clock.now().getTime() - windowMs[window])
  const total = addTotals(await readUsage(db, id, since), usage.unwritten(id, since))
  return { ...answer, window: viewTotal(window, total) }
}
