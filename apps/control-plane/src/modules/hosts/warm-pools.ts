/**
 * The warm pools of all hosts, as last reported. They are kept in memory, because each report is complete. A claim is safe
 * because of the primary key of `docks`: the first process to insert a row with the warm Dock's id owns the Dock, and
 * others try the next one. A host may report at most {@link warmPoolSizeMax} Docks, and none that another host has reported.
 */
import type { RuntimeName } from '@dock/contract'
import { type KeepWarmPool, type WarmSandbox, warmPoolSizeMax } from '@dock/host-protocol'

/** The image and size of a warm pool's Docks. Only a create that asks for exactly these can use the pool. */
export type WarmPoolKind = NonNullable<KeepWarmPool['kind']>

/** A ready Dock on a host. It was booted under its final id and with this host name. */
export type WarmDock = { id: string; hostId: string; hostname: string; report: WarmSandbox }

export type WarmPools = {
  /** Replaces the warm pool of a host of this runtime. */
  report(hostId: string, runtime: RuntimeName, reported: readonly WarmSandbox[]): void
  add(hostId: string, dock: WarmSandbox): void
  remove(hostId: string, dockId: string): void
  /**
   * Takes a Dock from the connected host that has most of this kind; returns null if no host has any. `runtimes`: those that
   * the host may have, null for any.
   */
  take(
    kind: WarmPoolKind,
    linked: readonly string[],
    runtimes: readonly RuntimeName[] | null,
  ): WarmDock | null
  /** Returns how many Docks of the host's pool are ready. */
  count(hostId: string): number
  /** Puts back a Dock that was taken and not claimed. */
  giveBack(dock: WarmDock): void
}

/** `runtime` is null before the host's first report. */
type HostPool = { runtime: RuntimeName | null; ready: Map<string, WarmSandbox>; taken: Set<string> }

const isOfKind = (dock: WarmSandbox, kind: WarmPoolKind): boolean =>
  dock.image === kind.image &&
  dock.cpus === kind.cpus &&
  dock.memoryMiB === kind.memoryMiB &&
  dock.diskGiB === kind.diskGiB

export function createWarmPools(): WarmPools {
  const byHost = new Map<string, HostPool>()
  const poolOf = (hostId: string): HostPool => {
    const known = byHost.get(hostId)
    if (known) return known
    const pool: HostPool = { runtime: null, ready: new Map(), taken: new Set() }
    byHost.set(hostId, pool)
    return pool
  }
  const isOnOtherHost = (hostId: string, dockId: string): boolean =>
    [...byHost].some(([id, { ready, taken }]) => id !== hostId && (ready.has(dockId) || taken.has(dockId)))

  return {
    report: (hostId, runtime, docks) => {
      const former = poolOf(hostId).taken
      // The report may be older than a take, so a Dock that was taken stays taken as long as it is reported.
      const taken = new Set(docks.map((dock) => dock.dockId).filter((id) => former.has(id)))
      const free = docks
        .filter(({ dockId }) => !taken.has(dockId) && !isOnOtherHost(hostId, dockId))
        .slice(0, warmPoolSizeMax)
      byHost.set(hostId, { runtime, ready: new Map(free.map((dock) => [dock.dockId, dock])), taken })
    },
    add: (hostId, dock) => {
      const { ready, taken } = poolOf(hostId)
      if (ready.size >= warmPoolSizeMax || taken.has(dock.dockId) || isOnOtherHost(hostId, dock.dockId))
        return
      ready.set(dock.dockId, dock)
    },
    remove: (hostId, dockId) => {
      poolOf(hostId).ready.delete(dockId)
    },
    take: (kind, linked, runtimes) => {
      let best: { hostId: string; docks: WarmSandbox[] } | null = null
      for (const hostId of linked) {
        const pool = byHost.get(hostId)
        if (!pool || (runtimes && (pool.runtime === null || !runtimes.includes(pool.runtime)))) continue
        const docks = [...pool.ready.values()].filter((dock) => isOfKind(dock, kind))
        if (docks.length > (best?.docks.length ?? 0)) best = { hostId, docks }
      }
      const oldest = best?.docks[0]
      if (!best || !oldest) return null
      const { ready, taken } = poolOf(best.hostId)
      ready.delete(oldest.dockId)
      taken.add(oldest.dockId)
      return { id: oldest.dockId, hostId: best.hostId, hostname: oldest.hostname, report: oldest }
    },
    count: (hostId) => byHost.get(hostId)?.ready.size ?? 0,
    giveBack: ({ hostId, id, report }) => {
      const { ready, taken } = poolOf(hostId)
      if (taken.delete(id)) ready.set(id, report)
    },
  }
}
