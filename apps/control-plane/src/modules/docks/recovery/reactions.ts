/** Reactions of the Docks module to events of hosts: reports, silence, return, and lost runtimes. */
import type { DockReactions, LostRuntime } from '../../hosts/index.ts'
import { createKeptProcessActivity } from '../activity/kept-processes.ts'
import type { DockContext } from '../dock-context.ts'
import { endLostMachine } from '../machines/fast-machines.ts'
import { createDiskMarks } from '../usage/disk-marks.ts'
import { saveMemoryShortage } from '../usage/memory-shortages.ts'
import { createOwnSamples } from '../usage/own-samples.ts'
import { completeReturnedSnapshots } from './declare-lost.ts'
import { failMissingCaptures } from './fail-missing-captures.ts'
import { catchUpGenerations, markDockReachable, markDocksUnreachable } from './host-contact.ts'
import { filterUnheld, recoverDock } from './recover-dock.ts'

export function createDockReactions(context: DockContext): DockReactions {
  const diskMarks = createDiskMarks(context)
  const keptProcesses = createKeptProcessActivity(context)
  const ownSamples = createOwnSamples(context)
  /** Lost runtimes whose Dock was held by an operation, by Dock id. They are recovered when the operation ends. */
  const held = new Map<string, { lost: LostRuntime; died: boolean }>()
  const recover: DockReactions['recover'] = async (lost, died) => {
    const { dockId, hostId } = lost
    if (await endLostMachine(context, lost)) return
    const outcome = await recoverDock(context, lost, died)
    if (outcome.held) held.set(dockId, { lost, died })
    else if (held.get(dockId)?.lost.hostId === hostId) held.delete(dockId)
  }
  return {
    markUnreachable: () => markDocksUnreachable(context),
    catchUpGenerations: (hostId, docks) => catchUpGenerations(context, hostId, docks),
    failMissingCaptures: (hostId, there, before) => failMissingCaptures(context, hostId, there, before),
    markReachable: (dockId) => markDockReachable(context, dockId),
    recover,
    recoverHeld: async () => {
      if (held.size === 0) return
      for (const dockId of await filterUnheld(context, [...held.keys()])) {
        const known = held.get(dockId)
        if (known) await recover(known.lost, known.died)
      }
    },
    completeReturnedSnapshots: (hostId, captures) => completeReturnedSnapshots(context.db, hostId, captures),
    recordMemoryShortage: (hostId, shortage) => saveMemoryShortage(context, hostId, shortage),
    noteProcesses: (hostId, report) => keptProcesses.note(hostId, report),
    noteAllProcesses: (hostId, reports) => keptProcesses.noteAll(hostId, reports),
    recordUsage: async (hostId, samples) => {
      const own = await ownSamples(hostId, samples)
      await context.usage.record(hostId, own)
      await diskMarks.watch(hostId, own)
    },
  }
}
