/** What happens to Docks when their host falls silent, comes back, or has lost a runtime. */
import type { DockReactions } from '../hosts/index.ts'
import type { DockContext } from './dock-context.ts'
import { hostBack, hostsSilent } from './recovery/host-contact.ts'
import { recoverDock } from './recovery/recover-dock.ts'

export const createDockReactions = (context: DockContext): DockReactions => ({
  hostsSilent: () => hostsSilent(context),
  hostBack: (dockId) => hostBack(context, dockId),
  recover: (dockId, generation, died) => recoverDock(context, dockId, generation, died),
  sampled: (hostId, samples) => context.usage.record(hostId, samples),
})
