/** What happens to Docks when their host speaks, falls silent, comes back, or has lost a runtime. */
import type { DockReactions, LostRuntime } from '../../hosts/index.ts'
import type { DockContext } from '../dock-context.ts'
import { createDiskMarks } from '../usage/disk-marks.ts'
import { saveMemoryShortage } from '../usage/memory-shortages.ts'
import { createOwnSamples } from '../usage/own-samples.ts'
import { capturesGone } from './captures-gone.ts'
import { reviveSnapshots } from './declare-lost.ts'
import { catchUp, hostBack, hostsSilent } from './host-contact.ts'
import { heldByNone, recoverDock } from './recover-dock.ts'

export function createDockReactions(context: DockContext): DockReactions {
  const diskMarks = createDiskMarks(context)
  const ownSamples = createOwnSamples(context)
  /** Runtimes that were lost while an operation held their Dock, by Dock. */
  const held = new Map<string, { lost: LostRuntime; died: boolean }>()
  const recover: DockReactions['recover'] = async (lost, died) => {
    const { dockId, hostId } = lost
    const outcome = await recoverDock(context, lost, died)
    if (outcome.held) held.set(dockId, { lost, died })
    else if (held.get(dockId)?.lost.hostId === hostId) held.delete(dockId)
  }
  return {
    hostsSilent: () => hostsSilent(context),
    hostAhead: (hostId, docks) => catchUp(context, hostId, docks),
    capturesGone: (hostId, there, before) => capturesGone(context, hostId, there, before),
    hostBack: (dockId) => hostBack(context, dockId),
    recover,
    recoverHeld: async () => {
      if (held.size === 0) return
      for (const dockId of await heldByNone(context, [...held.keys()])) {
        const known = held.get(dockId)
        if (known) await recover(known.lost, known.died)
      }
    },
    capturesFound: (hostId, captures) => reviveSnapshots(context.db, hostId, captures),
    ranOutOfMemory: (hostId, shortage) => saveMemoryShortage(context, hostId, shortage),
    sampled: async (hostId, samples) => {
      const own = await ownSamples(hostId, samples)
      await context.usage.record(hostId, own)
      await diskMarks.watch(hostId, own)
    },
  }
}
