import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { LineageModule } from '../lineage/index.ts'
import type { DockReactions } from './dock-reactions.ts'
import { createEnrolment, type Enrolment } from './enrolment.ts'
import { eraseQuarantined } from './erase-quarantined.ts'
import { createHostEvents, type HostEvents } from './host-events.ts'
import type { HostGateway } from './host-gateway.ts'
import { servedImages } from './host-view.ts'
import { createLostTime } from './lost-time.ts'
import type { PlacementPolicy } from './placement.ts'
import { countQuarantined } from './quarantine-store.ts'
import { hostRoutes } from './routes.ts'
import { createStartFailures, type StartFailures } from './start-failures.ts'
import { createWarmPools, type WarmPoolKind, type WarmPools } from './warm-pools.ts'

/** Who learns what hosts report. */
export type HostListeners = { reactions: DockReactions } & Pick<
  Parameters<typeof createHostEvents>[0],
  'gitConnected' | 'reported'
>

export type HostsModule = {
  routes: Handlers
  enrolment: Enrolment
  /** Where Docks are placed, and what they are started from. */
  placement: { policy: PlacementPolicy; startFailures: StartFailures; warmPools: WarmPools }
  /** Returns the images that online hosts serve. */
  servedImages(): Promise<string[]>
  /** Removes the quarantined items of a deleted organization. Returns how many are left. */
  removeQuarantined(organizationId: string): Promise<number>
  /** Connects the module with those who react to hosts. Call it once. */
  receive(listeners: HostListeners): HostReception
}

export type HostReception = { events: HostEvents; start(): void; stop(): void }

export function createHostsModule(needs: {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  policy: PlacementPolicy
  /** What Docks of the warm pool are like. */
  warmPoolKind: WarmPoolKind
  /** A second image of the warm pool, while repositories are linked. Null: none. */
  runImage: string | null
  /** Time without a heartbeat after which a host counts as lost. */
  lostAfterMs: number
  lineage: Pick<LineageModule, 'lineage' | 'erasureMacs' | 'reapplyErasures'>
  /** Called every few seconds with the number of quarantined items. */
  quarantined?: ((items: number) => void) | undefined
}): HostsModule {
  const { db, clock, logger, gateway, policy, warmPoolKind, runImage, lostAfterMs, quarantined } = needs
  const enrolment = createEnrolment({ db, clock })
  const warmPools = createWarmPools()
  return {
    routes: hostRoutes({
      ...{ db, clock, enrolment, gateway, warmPools, warmPoolKind },
      disconnect: gateway.disconnect,
    }),
    enrolment,
    placement: { policy, startFailures: createStartFailures(clock), warmPools },
    servedImages: () => servedImages(db),
    removeQuarantined: async (organizationId) => {
      await eraseQuarantined({ db, clock }, { organizationId })
      return 0
    },
    receive: ({ reactions, gitConnected, reported }) => {
      const lostTime = createLostTime({ db, clock, logger, gateway, reactions, ...needs.lineage })
      const events = createHostEvents({
        db,
        clock,
        logger,
        gateway,
        reactions,
        warmPools,
        warmPoolKind,
        runImage,
        lostTime,
        lostAfterMs,
        gitConnected,
        reported,
      })
      const timers = createTimers({
        clock,
        logger,
        tasks: [
          { name: 'lineage records on hosts', everyMs: 5_000, run: lostTime.updateHosts },
          {
            name: 'quarantine',
            everyMs: 15_000,
            run: async () => quarantined?.(await countQuarantined(db)),
          },
          { name: 'silent hosts', everyMs: 1_000, run: () => events.noticeSilence() },
          { name: 'held recoveries', everyMs: 1_000, run: () => events.recoverHeld() },
        ],
      })
      return { events, start: timers.start, stop: timers.stop }
    },
  }
}
