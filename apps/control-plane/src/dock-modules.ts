/** Joins the modules of hosts, Docks, Snapshots and what these are made of with the engine and the gateways to hosts. */
import { randomUUID } from 'node:crypto'
import { limits } from '@dock/contract'
import { type Clock, type Logger, type Precedence, waitAtMost } from '@dock/foundation'
import type { Db } from './database/database.ts'
import type { Channels } from './database/listen.ts'
import { createOperationRunner, type OperationRunner, removeOperations } from './engine/index.ts'
import { createFleetGateway, createFleetServer, type FleetServer } from './gateways/fleet/index.ts'
import { createGitDoor, type ServeRun } from './gateways/git/index.ts'
import type { GrantFor } from './modules/connectors/index.ts'
import { createDocksModule, type DockContext, type DocksModule } from './modules/docks/index.ts'
import {
  createEnvironmentsModule,
  type EnvironmentsModule,
  type GitServers,
} from './modules/environments/index.ts'
import {
  createHostsModule,
  type Enrolment,
  type HostEvents,
  type HostGateway,
  type HostsModule,
  type PlacementPolicy,
} from './modules/hosts/index.ts'
import type { Limits } from './modules/limits/index.ts'
import { createLineageModule, type Erased } from './modules/lineage/index.ts'
import type { OrganizationResource } from './modules/organizations/index.ts'
import { createSnapshotsModule, type SnapshotsModule } from './modules/snapshots/index.ts'
import {
  type Copies,
  type CopyMetrics,
  type CopySettings,
  createCopies,
  createImages,
  type Images,
} from './modules/storage/index.ts'
import { createTemplatesModule, type TemplatesModule } from './modules/templates/index.ts'
import { removeDeliveries } from './modules/webhooks/index.ts'
import type { ObjectStore } from './object-store/index.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import type { Handlers } from './routing/handler.ts'
import type { KeyRing, Sealer } from './sealing/index.ts'

export type DockModules = {
  /** Calls and connects to hosts. */
  gateway: HostGateway
  fleet: FleetServer
  hosts: HostsModule
  enrolment: Enrolment
  hostEvents: HostEvents
  runner: OperationRunner
  /** Identifies this process on leases. */
  owner: string
  docks: DocksModule
  context: DockContext
  copies: Copies
  environments: EnvironmentsModule
  images: Images
  snapshots: SnapshotsModule
  templates: TemplatesModule
  /** What an organization owns of all this, in the order of its removal. */
  resources: readonly OrganizationResource[]
  routes: Handlers
  listens: Channels
  /** Starts sweeps and timers. */
  start(): Promise<void>
  /**
   * Stops timers and closes links. Waits 5 s for running operations; after that, another process takes them over when
   * their leases expire.
   */
  stop(): Promise<void>
}

const drainMs = 5_000

export function createDockModules(options: {
  db: Db
  clock: Clock
  logger: Logger
  policy: PlacementPolicy
  defaultImage: string
  /** The image of the machines of Runs. Null: the default image. */
  runImage: string | null
  catalog: readonly string[]
  rateLimits: RateLimits
  sealer: Sealer
  keyRing: KeyRing
  execTimeoutSecondsMax: number
  fingerprintKey: Buffer
  billing: boolean
  /** Limits of an organization that has none of its own. */
  limits: Limits
  /** Time without a heartbeat after which a host counts as lost. */
  hostLostAfterMs: number
  /** Base URLs of the git providers, and the credentials that git in a Dock may use. */
  gitServers: GitServers
  grantFor: GrantFor
  /** Serves requests of Runs at the git door that are not from git. */
  serveRun?: ServeRun
  /** Holds the durable copies. */
  store: ObjectStore
  copySettings: CopySettings
  copyMetrics?: CopyMetrics
  /** Called every few seconds with the number of quarantined items. */
  quarantined?(items: number): void
  /** Repeats erasures that a restored database has undone. */
  reapplyErasures?(erased: readonly Erased[]): Promise<void>
  /** API requests go before large streams of processes. */
  precedence?: Precedence
  /** Replaces the gateway to real hosts. */
  hostGateway?: HostGateway
}): DockModules {
  const { db, clock, logger, sealer, store, rateLimits, defaultImage, catalog, gitServers } = options
  const shared = { db, clock, logger, sealer, rateLimits }
  const lineage = createLineageModule({
    ...shared,
    store,
    keyRing: options.keyRing,
    reapplyErasures: options.reapplyErasures ?? (async () => undefined),
  })
  const { epoch } = lineage.lineage
  const fleetGateway = createFleetGateway(clock, epoch, options.precedence)
  const gateway = options.hostGateway ?? fleetGateway
  const owner = randomUUID()
  const runner = createOperationRunner({ db, clock, logger, owner })
  const toOperate = { ...shared, gateway, owner, runner, origins: lineage.lineage }
  const copyContext = {
    ...shared,
    gateway,
    store,
    owner,
    settings: options.copySettings,
    ...(options.copyMetrics ? { metrics: options.copyMetrics } : {}),
  }
  const copies = createCopies(copyContext)
  const images = createImages(copyContext)
  const environments = createEnvironmentsModule({
    ...shared,
    gitServers,
    limits: options.limits,
  })
  const templates = createTemplatesModule({ ...toOperate, limits: options.limits })
  const hosts = createHostsModule({
    ...shared,
    gateway,
    lineage,
    policy: options.policy,
    warmPoolKind: {
      image: defaultImage,
      cpus: limits.cpus.default,
      memoryMiB: limits.memoryMiB.default,
      diskGiB: limits.diskGiB.default,
    },
    runImage: options.runImage,
    lostAfterMs: options.hostLostAfterMs,
    quarantined: options.quarantined,
  })
  const docks = createDocksModule({
    ...toOperate,
    ...hosts.placement,
    epoch,
    defaultImage,
    catalog,
    passed: environments.passed,
    images: hosts.servedImages,
    template: templates.find,
    wipeTemplates: templates.wipe,
    ensureCapture: copies.ensureCapture,
    ensureImage: images.ensureImage,
    execTimeoutSecondsMax: options.execTimeoutSecondsMax,
    fingerprintKey: options.fingerprintKey,
    billing: options.billing,
    limits: options.limits,
  })
  const snapshots = createSnapshotsModule({
    ...toOperate,
    rateLimits,
    captureHost: copies.captureHost,
    listFiles: copies.listFiles,
    ensureCapture: copies.ensureCapture,
  })
  const gitDoor = createGitDoor({
    logger,
    hosts: gateway,
    servers: gitServers,
    grantFor: options.grantFor,
    organizationOf: docks.organizationOf,
    ...(options.serveRun ? { serveRun: options.serveRun } : {}),
  })
  const reception = hosts.receive({
    reactions: docks.reactions,
    gitConnected: gitDoor.take,
    reported: images.checkSoon,
  })
  const fleet = createFleetServer({
    logger,
    enrolment: hosts.enrolment,
    events: reception.events,
    gateway: fleetGateway,
    onBulkLink: copies.noticeHost,
  })
  return {
    gateway,
    fleet,
    hosts,
    runner,
    owner,
    docks,
    copies,
    environments,
    images,
    snapshots,
    templates,
    enrolment: hosts.enrolment,
    hostEvents: reception.events,
    context: docks.context,
    resources: [
      // First, while the database still knows which Docks belong to the organization.
      { name: 'quarantine', remove: hosts.removeQuarantined },
      { name: 'templates', remove: templates.removeAll },
      { name: 'machines of Runs', remove: docks.removeMachines },
      { name: 'docks', remove: docks.removeAll },
      { name: 'copies', remove: copies.removeAll },
      { name: 'operations', remove: (id) => removeOperations(db, id) },
      { name: 'webhook deliveries', remove: (id) => removeDeliveries(db, id) },
      { name: 'records of Docks', remove: docks.removeRecords },
    ],
    routes: {
      ...hosts.routes,
      ...docks.routes,
      ...environments.routes(docks.context),
      ...snapshots.routes,
      ...templates.routes,
    },
    listens: {
      dock_engine: () => runner.wake(),
      snapshot_completed: copies.noticeSnapshot,
      snapshots_wiped: copies.noticeWiped,
      retention: () => {
        docks
          .wipeRetained()
          .catch((error: unknown) => logger.error({ err: error }, 'zero data retention failed'))
      },
    },
    start: async () => {
      await lineage.start()
      await runner.start()
      await copies.start()
      for (const each of [images, reception, environments, docks]) each.start()
    },
    stop: async () => {
      for (const each of [lineage, reception, environments, docks]) each.stop()
      gitDoor.close()
      await copies.stop()
      await images.stop()
      runner.stop()
      await waitAtMost(clock, drainMs, Promise.all([runner.settled(), lineage.settled()]))
      fleet.close()
      await docks.saveRest()
    },
  }
}
