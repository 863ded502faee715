/** Wires up hosts, Docks, Snapshots, the engine and the fleet gateway. */
import { randomUUID } from 'node:crypto'
import { limits } from '@dock/contract'
import { type Clock, type Logger, waitAtMost } from '@dock/foundation'
import type { Db } from './database/database.ts'
import { createDockSagas } from './dock-sagas.ts'
import { createDockUpkeep, wipeRetained } from './dock-upkeep.ts'
import { createOperationRunner, type OperationRunner, removeOperations } from './engine/index.ts'
import {
  createFleetGateway,
  createFleetServer,
  type FleetGateway,
  type FleetServer,
} from './gateways/fleet/index.ts'
import { createGitDoor } from './gateways/git/index.ts'
import type { Handlers } from './http/handler.ts'
import { dockHandlers } from './http/routes/docks.ts'
import { environmentUpgradeHandlers } from './http/routes/environments.ts'
import { hostHandlers } from './http/routes/hosts.ts'
import { snapshotHandlers } from './http/routes/snapshots.ts'
import { templateHandlers } from './http/routes/templates.ts'
import { retentionEnabled } from './modules/accounts/index.ts'
import type { GrantFor } from './modules/connectors/index.ts'
import { type Copies, type CopyMetrics, type CopySettings, createCopies } from './modules/copies/index.ts'
import {
  createDockActivity,
  createDockReactions,
  createDockUsage,
  createOrderedStops,
  createOrganizationOf,
  createTtlClock,
  type DockContext,
  nextStopAt,
  type OrderedStops,
  removeDockRecords,
  removeDocks,
  stopDueDocks,
} from './modules/docks/index.ts'
import {
  createEnvironmentsModule,
  type EnvironmentsModule,
  type GitServers,
} from './modules/environments/index.ts'
import {
  createEnrolment,
  createHostEvents,
  createLostTime,
  createStartFailures,
  createWarmPools,
  type Enrolment,
  eraseQuarantined,
  type HostEvents,
  type HostGateway,
  type PlacementPolicy,
  servedImages,
} from './modules/hosts/index.ts'
import { createImageVersions, type ImageVersions } from './modules/images/index.ts'
import type { Limits } from './modules/limits/index.ts'
import { createErasureMacs, createLineage, createStoreMemory, type Erased } from './modules/lineage/index.ts'
import type { OrganizationResource } from './modules/organizations/index.ts'
import { dockHasConnectors, removeTemplates, templateForCreate } from './modules/templates/index.ts'
import { removeDeliveries } from './modules/webhooks/index.ts'
import type { ObjectStore } from './object-store/index.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import type { KeyRing, Sealer } from './sealing/index.ts'

export type DockModules = {
  handlers: Handlers
  fleet: FleetServer
  enrolment: Enrolment
  hostEvents: HostEvents
  runner: OperationRunner
  context: DockContext
  copies: Copies
  environments: EnvironmentsModule
  imageVersions: ImageVersions
  orderedStops: OrderedStops
  /** What an organization owns of all this, in the order of its removal. */
  things: readonly OrganizationResource[]
  /** Starts a sweep for data at rest of organizations with zero data retention. */
  noticeRetention(): void
  /** Starts sweeps and timers. */
  start(): Promise<void>
  /**
   * Stops timers and closes links. Waits 5 s for running operations; after that, another process takes them over when
   * their leases expire.
   */
  stop(): Promise<void>
}

export function createDockModules(options: {
  db: Db
  clock: Clock
  logger: Logger
  policy: PlacementPolicy
  defaultImage: string
  catalog: readonly string[]
  rateLimits: RateLimits
  sealer: Sealer
  keyRing: KeyRing
  execTimeoutSecondsMax: number
  snapshotFileBytesMax: number
  fingerprintKey: Buffer
  billing: boolean
  /** Limits of an organization that has none of its own. */
  limits: Limits
  /** Time without a heartbeat after which a host counts as lost. */
  hostLostAfterMs: number
  /** Base URLs of the git providers, and the credentials that git in a Dock may use. */
  gitServers: GitServers
  grantFor: GrantFor
  /** Holds the durable copies. */
  store: ObjectStore
  copySettings: CopySettings
  copyMetrics?: CopyMetrics
  /** Called every few seconds with the number of quarantined items. */
  quarantined?(things: number): void
  /** Repeats erasures that a restored database has undone. */
  reapplyErasures?(erased: readonly Erased[]): Promise<void>
  /** Replaces the gateway to real hosts. Tests only. */
  hostGateway?: HostGateway
}): DockModules {
  const { db, clock, logger } = options
  const lineage = createLineage({ db, clock, logger })
  const fleetGateway: FleetGateway = createFleetGateway(clock, () => lineage.epoch())
  const gateway = options.hostGateway ?? fleetGateway
  const owner = randomUUID()
  const ttl = createTtlClock({
    clock,
    logger,
    stopDue: () => stopDueDocks(context),
    nextDue: () => nextStopAt(db),
  })
  const { sealer, store } = options
  const copyContext = {
    ...{ db, clock, logger, gateway, sealer, store, owner },
    settings: options.copySettings,
    ...(options.copyMetrics ? { metrics: options.copyMetrics } : {}),
  }
  const copies = createCopies(copyContext)
  const imageVersions = createImageVersions(copyContext, options.catalog)
  const startFailures = createStartFailures(clock)
  const environments = createEnvironmentsModule({
    ...{ db, clock, logger, sealer, rateLimits: options.rateLimits },
    ...{ limits: options.limits, gitServers: options.gitServers },
  })
  const sagas = createDockSagas({
    ...{ db, clock, logger, gateway, sealer, owner, ttl, startFailures, copies, imageVersions, lineage },
    ...{ policy: options.policy, passed: environments.passed },
  })
  const runner = createOperationRunner({ db, clock, logger, owner, sagas })
  const pools = createWarmPools()
  const usage = createDockUsage({ db, clock })
  const context: DockContext = {
    db,
    epoch: lineage.epoch,
    clock,
    logger,
    gateway,
    runner,
    policy: options.policy,
    startFailures,
    pools,
    defaultImage: options.defaultImage,
    images: () => servedImages(db),
    catalog: options.catalog,
    rateLimits: options.rateLimits,
    captureHost: copies.captureHost,
    listFiles: copies.listFiles,
    template: (organizationId, name) => templateForCreate(db, organizationId, name),
    usage,
    activity: createDockActivity({ db, clock, logger }),
    ttl,
    sealer,
    keyedExecs: new Map(),
    execTimeoutSecondsMax: options.execTimeoutSecondsMax,
    snapshotFileBytesMax: options.snapshotFileBytesMax,
    fingerprintKey: options.fingerprintKey,
    billing: options.billing,
    limits: options.limits,
  }
  const enrolment = createEnrolment({ db, clock })
  const reactions = createDockReactions(context)
  const poolKind = {
    image: options.defaultImage,
    cpus: limits.cpus.default,
    memoryMiB: limits.memoryMiB.default,
    diskGiB: limits.diskGiB.default,
  }
  const reapplyErasures = options.reapplyErasures ?? (async () => undefined)
  const lostTime = createLostTime({
    ...{ db, clock, logger, gateway, lineage, reactions, reapplyErasures },
    erasureMacs: createErasureMacs(options.keyRing),
  })
  const storeMemory = createStoreMemory({ db, clock, logger, store, lineage, reapplyErasures })
  const gitDoor = createGitDoor({
    ...{ logger, hosts: gateway, servers: options.gitServers, grantFor: options.grantFor },
    organizationOf: createOrganizationOf(db),
  })
  const hostEvents = createHostEvents({
    ...{ db, clock, logger, gateway, reactions, pools, poolKind, lostTime },
    gitConnected: gitDoor.take,
    lostAfterMs: options.hostLostAfterMs,
    reported: imageVersions.look,
  })
  const fleet = createFleetServer({
    ...{ logger, enrolment, events: hostEvents, gateway: fleetGateway },
    linkedInBulk: copies.noticeHost,
  })
  const upkeep = createDockUpkeep({
    ...{ context, lostTime, storeMemory, hostEvents },
    quarantined: options.quarantined,
  })
  const orderedStops = createOrderedStops(context)
  return {
    handlers: {
      ...dockHandlers(context),
      ...hostHandlers({ db, clock, enrolment, disconnect: gateway.disconnect }),
      ...snapshotHandlers(context),
      ...environmentUpgradeHandlers(context),
      ...templateHandlers(context, {
        retentionEnabled: (organizationId) => retentionEnabled(db, organizationId),
        hasConnectors: (dockId) => dockHasConnectors(db, dockId),
      }),
    },
    fleet,
    enrolment,
    hostEvents,
    runner,
    context,
    copies,
    environments,
    imageVersions,
    orderedStops,
    things: [
      // First, while the database still knows which Docks belong to the organization.
      {
        name: 'quarantine',
        remove: async (organizationId) => {
          await eraseQuarantined({ db, clock }, { organizationId })
          return 0
        },
      },
      { name: 'templates', remove: (id) => removeTemplates(db, id) },
      { name: 'docks', remove: (id) => removeDocks(context, id) },
      { name: 'copies', remove: copies.removeAll },
      { name: 'operations', remove: (id) => removeOperations(db, id) },
      { name: 'webhook deliveries', remove: (id) => removeDeliveries(db, id) },
      { name: 'records of Docks', remove: (id) => removeDockRecords(db, id) },
    ],
    noticeRetention: () => {
      wipeRetained(context).catch((error: unknown) =>
        logger.error({ err: error }, 'zero data retention failed'),
      )
    },
    start: async () => {
      await lineage.begin()
      // Before the first order to a host: the object store may show that this database is a restored one.
      await storeMemory.look()
      await runner.start()
      await copies.start()
      imageVersions.start()
      upkeep.start()
      environments.start()
      ttl.start()
      orderedStops.start()
    },
    stop: async () => {
      upkeep.stop()
      environments.stop()
      ttl.stop()
      orderedStops.stop()
      gitDoor.close()
      await copies.stop()
      await imageVersions.stop()
      runner.stop()
      await waitAtMost(clock, 5_000, Promise.all([runner.settled(), storeMemory.settled()]))
      fleet.close()
      await usage
        .flush()
        .catch((error: unknown) =>
          logger.warn({ err: error }, 'could not save usage; the last minute of usage is lost'),
        )
    },
  }
}
