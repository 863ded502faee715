/** Handles the events that host agents send, such as heartbeats and inventories, and detects silent hosts. */
import type { GitConnected, HostEvent } from '@dock/host-protocol'
import { unblockOperationsOfHost } from '../../engine/index.ts'
import { markSilentHosts, noteWarmPool, saveHeartbeat } from './host-store.ts'
import { markLostHosts } from './lost-hosts.ts'
import { createInventoryTaker, type InventoryParts, listUnused } from './take-inventory.ts'

const offlineAfterMs = 30_000
/** A longer gap between two successful checks means that this process was suspended or had no database. */
const checkGapMaxMs = 10_000

export type HostEvents = {
  handle(hostId: string, event: HostEvent): Promise<void>
  /**
   * Marks hosts offline that sent no heartbeat for 30 s while this process was listening, and their Docks `unreachable`.
   * Marks hosts lost that were silent for `lostAfterMs`, so that operations that wait for them continue.
   */
  noticeSilence(): Promise<void>
  /** Recovers Docks that an operation held when their runtime was lost and that no operation holds now. */
  recoverHeld(): Promise<void>
  /** Resolves when no commands that follow from an inventory are being sent. */
  settled(): Promise<void>
}

export function createHostEvents(
  parts: InventoryParts & {
    /** Called when git in a Dock connects to its git door. Starts to serve the connection. */
    gitConnected(hostId: string, event: GitConnected): void
    /** Milliseconds of silence after which a host counts as lost; at least 30 s. */
    lostAfterMs: number
    /** Called after a host's inventory has been processed. */
    reported(): void
  },
): HostEvents {
  const { db, clock, logger, gateway, reactions, warmPools, lostAfterMs } = parts
  let listeningSince = clock.now()
  let checkedAt = listeningSince
  const inventories = createInventoryTaker(parts)

  return {
    handle: async (hostId, event) => {
      switch (event.type) {
        case 'inventory':
          await inventories.take(hostId, event)
          return parts.reported()
        case 'heartbeat': {
          const { pressure, running } = event
          if (await saveHeartbeat(db, { id: hostId, pressure, running, now: clock.now() })) return
          // The host was marked offline meanwhile. A new session starts with an inventory, which settles its Docks.
          return gateway.disconnect(hostId, 'silent for too long')
        }
        case 'dock.died':
          return reactions.recover({ hostId, dockId: event.dockId, generation: event.generation }, true)
        case 'dock.out_of_memory':
          return reactions.recordMemoryShortage(hostId, event)
        case 'dock.processes':
          return reactions.noteProcesses(hostId, event)
        case 'pool.ready':
          for (const dock of await listUnused(db, [event.dock])) warmPools.add(hostId, dock)
          return noteWarmPool(db, hostId)
        case 'pool.gone':
          warmPools.remove(hostId, event.dockId)
          return noteWarmPool(db, hostId)
        case 'git.connected':
          return parts.gitConnected(hostId, event)
        case 'samples':
          return reactions.recordUsage(hostId, event.samples)
      }
    },
    settled: () => inventories.settled(),
    recoverHeld: () => reactions.recoverHeld(),
    noticeSilence: async () => {
      const now = clock.now()
      if (now.getTime() - checkedAt.getTime() > checkGapMaxMs) listeningSince = now
      const before = new Date(now.getTime() - offlineAfterMs)
      for (const hostId of await markSilentHosts(db, { before, listeningSince })) {
        logger.warn({ hostId }, 'host is offline: it sent no heartbeat')
        // The link may be half open, and a command sent over it would run into its timeout.
        gateway.disconnect(hostId, 'silent for too long')
      }
      // Right after a start, hosts may still be marked offline from before and be about to reconnect.
      if (listeningSince < before) await reactions.markUnreachable()
      const lostBefore = new Date(now.getTime() - Math.max(lostAfterMs, offlineAfterMs))
      for (const hostId of await markLostHosts(db, { before: lostBefore, listeningSince, now })) {
        logger.error({ hostId }, 'host was silent for too long and counts as lost')
        await unblockOperationsOfHost(db, hostId, now)
      }
      checkedAt = now
    },
  }
}
