/**
 * Docks with kept processes are in use, although no request is. Hosts report how many run: at each change, and all of
 * them in each inventory, so that this also holds after a restart of this process.
 */
import type { Db } from '../../../database/database.ts'
import { docksOfHost } from './activity-store.ts'
import type { DockActivity } from './dock-activity.ts'

export type RunningProcesses = { dockId: string; running: number }

export type KeptProcessActivity = {
  /** The number of processes in one Dock has changed. */
  note(hostId: string, report: RunningProcesses): Promise<void>
  /** Takes the report on all Docks of the host. Those that are missing run none. */
  noteAll(hostId: string, reports: readonly RunningProcesses[]): Promise<void>
}

export function createKeptProcessActivity(parts: { db: Db; activity: DockActivity }): KeptProcessActivity {
  /** By host: for each Dock with processes, the function that ends its session. */
  const sessions = new Map<string, Map<string, () => void>>()
  const sessionsOf = (hostId: string): Map<string, () => void> => {
    const known = sessions.get(hostId) ?? new Map<string, () => void>()
    sessions.set(hostId, known)
    return known
  }
  /** The latest report of each host that is being taken. A later one must not be overtaken by the look-up of an earlier one. */
  const taking = new Map<string, Promise<void>>()
  const afterEarlier = (hostId: string, take: () => Promise<void>): Promise<void> => {
    const taken = (taking.get(hostId) ?? Promise.resolve()).then(take)
    const settled = taken.then(
      () => undefined,
      () => undefined,
    )
    taking.set(hostId, settled)
    return taken
  }
  const end = (of: Map<string, () => void>, dockId: string): void => {
    of.get(dockId)?.()
    of.delete(dockId)
  }
  const begin = async (hostId: string, dockIds: readonly string[]): Promise<void> => {
    const of = sessionsOf(hostId)
    const fresh = dockIds.filter((id) => !of.has(id))
    if (fresh.length === 0) return
    // A report on a Dock of another host counts for nothing.
    for (const id of await docksOfHost(parts.db, hostId, fresh))
      if (!of.has(id)) of.set(id, parts.activity.begin({ id }))
  }
  return {
    note: (hostId, { dockId, running }) =>
      afterEarlier(hostId, async () => {
        if (running > 0) await begin(hostId, [dockId])
        else end(sessionsOf(hostId), dockId)
      }),
    noteAll: (hostId, reports) =>
      afterEarlier(hostId, async () => {
        const used = reports.filter(({ running }) => running > 0).map(({ dockId }) => dockId)
        const of = sessionsOf(hostId)
        for (const dockId of [...of.keys()]) if (!used.includes(dockId)) end(of, dockId)
        await begin(hostId, used)
      }),
  }
}
