/** Consumes what agents report: heartbeats, inventories, deaths; and notices hosts that fell silent. */
import type { Clock, Logger } from '@dock/foundation'
import type { HostEvent, UsageSample } from '@dock/host-protocol'
import type { Db } from '../../database/database.ts'
import { unblockHost } from '../../engine/index.ts'
import type { HostGateway } from './host-gateway.ts'
import {
  expectedDocks,
  markSilentHosts,
  saveHeartbeat,
  saveInventory,
  unknownCaptures,
} from './host-store.ts'
import { judgeInventory } from './inventory.ts'

const silenceMs = 30_000

/** What happens to Docks when their host speaks or falls silent; the Docks' module does it. */
export type DockReactions = {
  hostSilent(hostId: string): Promise<void>
  hostBack(dock: { id: string; organizationId: string }): Promise<void>
  /** Boots it again from its own disk. `died`: unexpectedly, so it counts and alerts. */
  recover(dockId: string, generation: number, died: boolean): Promise<void>
  sampled(hostId: string, samples: readonly UsageSample[]): Promise<void>
}

export type HostEvents = {
  handle(hostId: string, event: HostEvent): Promise<void>
  /** Hosts without a word for 30 s turn offline and their Docks unreachable. */
  noticeSilence(): Promise<void>
}

export const createHostEvents = (options: {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  reactions: DockReactions
}): HostEvents => {
  const { db, clock, logger, gateway, reactions } = options
  const startedAt = clock.now().getTime()

  const inventory = async (
    hostId: string,
    event: Extract<HostEvent, { type: 'inventory' }>,
  ): Promise<void> => {
    const now = clock.now()
    const running = event.runtimes.filter((runtime) => runtime.state === 'running').length
    const expected = await expectedDocks(
      db,
      hostId,
      event.runtimes.map((runtime) => runtime.dockId),
    )
    const judge = (rebooted: boolean) =>
      judgeInventory({ hostId, runtimes: event.runtimes, expected, rebooted, now })
    const orphans = judge(false).flatMap((finding) =>
      finding.kind === 'orphan' ? [{ dockId: finding.dockId, state: finding.state }] : [],
    )
    const { facts, pressure } = event
    const { rebooted } = await saveInventory(db, { id: hostId, facts, pressure, running, orphans, now })
    for (const finding of judge(rebooted)) {
      if (finding.kind === 'back') await reactions.hostBack(finding.dock)
      else if (finding.kind === 'lost')
        await reactions.recover(finding.dock.id, finding.dock.generation, finding.died)
      else {
        logger.warn({ hostId, dockId: finding.dockId, generation: finding.generation }, 'runtime fenced')
        const body = { operationId: 'fence', generation: finding.generation }
        await gateway
          .destroy(hostId, finding.dockId, body)
          .catch((error: unknown) =>
            logger.warn({ hostId, err: error }, 'fence failed; the next inventory retries'),
          )
      }
    }
    for (const captureId of await unknownCaptures(db, event.captures))
      await gateway
        .destroyCapture(hostId, captureId, 'fence')
        .catch((error: unknown) => logger.warn({ hostId, captureId, err: error }, 'capture not removed'))
    await unblockHost(db, hostId, now)
  }

  return {
    handle: async (hostId, event) => {
      switch (event.type) {
        case 'inventory':
          return inventory(hostId, event)
        case 'heartbeat':
          return saveHeartbeat(db, {
            id: hostId,
            pressure: event.pressure,
            running: event.running,
            now: clock.now(),
          })
        case 'samples':
          return reactions.sampled(hostId, event.samples)
        case 'dock.died':
          return reactions.recover(event.dockId, event.generation, true)
        case 'pool.ready':
        case 'pool.gone':
          // Creates do not ask the pool yet.
          return
      }
    },
    noticeSilence: async () => {
      const now = clock.now().getTime()
      // After a restart of this process the last heartbeats are old without any host being silent.
      if (now - startedAt < silenceMs) return
      for (const hostId of await markSilentHosts(db, new Date(now - silenceMs))) {
        logger.warn({ hostId }, 'host is silent')
        await reactions.hostSilent(hostId)
      }
    },
  }
}
