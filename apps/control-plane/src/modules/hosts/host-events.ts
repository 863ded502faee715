/** Consumes what agents report: heartbeats, inventories, deaths; and notices hosts that fell silent. */
import type { GitConnected, HostEvent } from '@dock/host-protocol'
import { unblockHost } from '../../engine/index.ts'
import { markSilentHosts, saveHeartbeat } from './host-store.ts'
import { markLostHosts } from './lost-hosts.ts'
import { createInventoryTaker, type InventoryParts, unusedOf } from './take-inventory.ts'

const silenceMs = 30_000
/** Between two looks that succeeded; after more, this process itself stood still or had no database. */
const deafMs = 10_000

export type HostEvents = {
  handle(hostId: string, event: HostEvent): Promise<void>
  /**
   * Hosts without a word for 30 s, while this process could hear them, turn offline and their Docks unreachable. Those
   * without one for longer than the instance waits count as lost: what waited for them goes on.
   */
  noticeSilence(): Promise<void>
  /** Docks that an operation held when their runtime was lost boot again once it is over. */
  recoverHeld(): Promise<void>
  /** Resolves when no host is being told what its inventory led to. */
  settled(): Promise<void>
}

export function createHostEvents(
  parts: InventoryParts & {
    /** Called when git in a Dock has connected to its door; begins to serve the connection. */
    gitConnected(hostId: string, event: GitConnected): void
    /** Silence after which a host counts as lost. */
    lostAfterMs: number
    /** Called when a host's full report is settled. */
    reported(): void
  },
): HostEvents {
  const { db, clock, logger, gateway, reactions, pools, lostAfterMs } = parts
  let listeningSince = clock.now()
  let lookedAt = listeningSince
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
          // It was given up meanwhile; a new session begins with an inventory, which settles its Docks.
          return gateway.disconnect(hostId, 'silent for too long')
        }
        case 'dock.died':
          return reactions.recover({ hostId, dockId: event.dockId, generation: event.generation }, true)
        case 'dock.out_of_memory':
          return reactions.ranOutOfMemory(hostId, event)
        case 'pool.ready':
          for (const dock of await unusedOf(db, [event.dock])) pools.add(hostId, dock)
          return
        case 'pool.gone':
          return pools.remove(hostId, event.dockId)
        case 'git.connected':
          return parts.gitConnected(hostId, event)
        case 'samples':
          return reactions.sampled(hostId, event.samples)
      }
    },
    settled: () => inventories.settled(),
    recoverHeld: () => reactions.recoverHeld(),
    noticeSilence: async () => {
      const now = clock.now()
      if (now.getTime() - lookedAt.getTime() > deafMs) listeningSince = now
      const before = new Date(now.getTime() - silenceMs)
      for (const hostId of await markSilentHosts(db, { before, listeningSince })) {
        logger.warn({ hostId }, 'host is silent')
        // Its link may be half open: what is asked over it would wait for its deadline.
        gateway.disconnect(hostId, 'silent for too long')
      }
      // Hosts may be offline still from before, and about to link again.
      if (listeningSince < before) await reactions.hostsSilent()
      const lostBefore = new Date(now.getTime() - Math.max(lostAfterMs, silenceMs))
      for (const hostId of await markLostHosts(db, { before: lostBefore, listeningSince, now })) {
        logger.error({ hostId }, 'host is lost: silent for too long')
        await unblockHost(db, hostId, now)
      }
      lookedAt = now
    },
  }
}
