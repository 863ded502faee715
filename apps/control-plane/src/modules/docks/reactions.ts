/** What happens to Docks when their host speaks, falls silent, comes back, or has lost a runtime. */
import type { DockReactions } from '../hosts/index.ts'
import type { DockContext } from './dock-context.ts'
import { hostBack, hostsSilent } from './recovery/host-contact.ts'
import { recoverDock } from './recovery/recover-dock.ts'
import { createDiskMarks } from './usage/disk-marks.ts'

export const createDockReactions = (context: DockContext): DockReactions => {
  const diskMarks = createDiskMarks(context)
  return {
    hostsSilent: () => hostsSilent(context),
    hostBack: (dockId) => hostBack(context, dockId),
    recover: (dockId, generation, died) => recoverDock(context, dockId, generation, died),
    sampled: async (hostId, samples) => {
      await context.usage.record(hostId, samples)
      await diskMarks.watch(hostId, samples)
    },
  }
}
