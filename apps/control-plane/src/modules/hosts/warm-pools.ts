/**
 * The Docks that hosts hold ready, as they last reported them: in memory, for each report is whole. What makes a claim
 * safe is the key of the table of Docks: whoever inserts a row under such an id first has it, others take the next one.
 * A host names at most {@link poolSizeMax}, and none that another host has named.
 */
import { type KeepPool, type PoolReport, poolSizeMax } from '@dock/host-protocol'

/** What a host holds ready: only a create that asks for exactly this finds its Dock there. */
export type PoolKind = NonNullable<KeepPool['kind']>

/** A Dock that waits on a host, booted under its final id and with this host name. */
export type WarmDock = { id: string; hostId: string; hostname: string; report: PoolReport }

export type WarmPools = {
  /** A host's whole pool. */
  report(hostId: string, pool: readonly PoolReport[]): void
  add(hostId: string, dock: PoolReport): void
  remove(hostId: string, dockId: string): void
  /** Takes one out, from the linked host that holds most of the kind; null when there is none. */
  take(kind: PoolKind, linked: readonly string[]): WarmDock | null
  /** Puts back what was not claimed after all. */
  giveBack(dock: WarmDock): void
}

type Pool = { ready: Map<string, PoolReport>; taken: Set<string> }

const isOfKind = (dock: PoolReport, kind: PoolKind): boolean =>
  dock.image === kind.image &&
  dock.cpus === kind.cpus &&
  dock.memoryMiB === kind.memoryMiB &&
  dock.diskGiB === kind.diskGiB

export function createWarmPools(): WarmPools {
  const pools = new Map<string, Pool>()
  const poolOf = (hostId: string): Pool => {
    const known = pools.get(hostId)
    if (known) return known
    const pool: Pool = { ready: new Map(), taken: new Set() }
    pools.set(hostId, pool)
    return pool
  }
  const isAnothers = (hostId: string, dockId: string): boolean =>
    [...pools].some(([id, { ready, taken }]) => id !== hostId && (ready.has(dockId) || taken.has(dockId)))

  return {
    report: (hostId, docks) => {
      const former = poolOf(hostId).taken
      // A report may have been on its way while one of them was taken: that one stays taken as long as it is named.
      const taken = new Set(docks.map((dock) => dock.dockId).filter((id) => former.has(id)))
      const free = docks
        .filter(({ dockId }) => !taken.has(dockId) && !isAnothers(hostId, dockId))
        .slice(0, poolSizeMax)
      pools.set(hostId, { ready: new Map(free.map((dock) => [dock.dockId, dock])), taken })
    },
    add: (hostId, dock) => {
      const { ready, taken } = poolOf(hostId)
      if (ready.size >= poolSizeMax || taken.has(dock.dockId) || isAnothers(hostId, dock.dockId)) return
      ready.set(dock.dockId, dock)
    },
    remove: (hostId, dockId) => {
      poolOf(hostId).ready.delete(dockId)
    },
    take: (kind, linked) => {
      let best: { hostId: string; docks: PoolReport[] } | null = null
      for (const hostId of linked) {
        const docks = [...(pools.get(hostId)?.ready.values() ?? [])].filter((dock) => isOfKind(dock, kind))
        if (docks.length > (best?.docks.length ?? 0)) best = { hostId, docks }
      }
      const oldest = best?.docks[0]
      if (!best || !oldest) return null
      const { ready, taken } = poolOf(best.hostId)
      ready.delete(oldest.dockId)
      taken.add(oldest.dockId)
      return { id: oldest.dockId, hostId: best.hostId, hostname: oldest.hostname, report: oldest }
    },
    giveBack: ({ hostId, id, report }) => {
      const { ready, taken } = poolOf(hostId)
      if (taken.delete(id)) ready.set(id, report)
    },
  }
}
