/** The only place that constructs the parts of the control plane and connects them. */
import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { type Clock, type Logger, Precedence, waitAtMost } from '@dock/foundation'
import { sql } from 'kysely'
import { createClientAddress } from './client-address.ts'
import type { Config } from './config.ts'
import { createConnectionModules } from './connection-modules.ts'
import type { DatabaseConnection } from './database/database.ts'
import { type Listener, listen } from './database/listen.ts'
import { createDockModules, type DockModules } from './dock-modules.ts'
import { removeOperations } from './engine/index.ts'
import { createHttpApp, type HttpApp } from './http/app.ts'
import { createScopeCheck } from './http/check-scope.ts'
import { createCredentials } from './http/credentials.ts'
import type { Handlers } from './http/handler.ts'
import { createMetrics, type Metrics } from './http/metrics.ts'
import { instanceHandlers } from './http/routes/instance.ts'
import { webhookHandlers } from './http/routes/webhooks.ts'
import type { ConnectionHandlers } from './http/serve.ts'
import { createFileTransport, createSmtpTransport } from './mail/mail-transport.ts'
import { createMailer } from './mail/outbox.ts'
import {
  type AccessSignals,
  createSessionAuthentication,
  sessionCookieName,
} from './modules/accounts/index.ts'
import { createEnvironmentGrants, createLinkedSignIns } from './modules/connectors/index.ts'
import { removeDockRecords, removeDocks } from './modules/docks/index.ts'
import { eraseQuarantined } from './modules/hosts/index.ts'
import { imageCatalog } from './modules/instance/index.ts'
import { createApiKeyAuthentication } from './modules/keys/index.ts'
import { deleteStorageCounters } from './modules/limits/index.ts'
import { findMembership, findWorkspaceMembership } from './modules/organizations/index.ts'
import { removeTemplates } from './modules/templates/index.ts'
import {
  createPublicWeb,
  createWebhooksModule,
  type PublicWeb,
  removeDeliveries,
} from './modules/webhooks/index.ts'
import { openObjectStore } from './object-store/index.ts'
import { createPeopleModules } from './people-modules.ts'
import { createRateLimits } from './rate-limits/rate-limits.ts'
import { openRedisCounters } from './rate-limits/redis-counters.ts'
import { sealedColumns } from './sealed-columns.ts'
import { createSealer, type KeyRing, type Sealer } from './sealing/index.ts'
import { createTenantModules, type TenantModules } from './tenant-modules.ts'

export type ControlPlane = {
  app: HttpApp
  connectionHandlers: ConnectionHandlers
  /** Lets API requests go before the bodies of hosted ports. */
  precedence: Precedence
  handlers: Handlers
  docks: DockModules
  accessSignals: AccessSignals
  sealer: Sealer
  tenants: TenantModules
  metrics: Metrics
  start(): Promise<void>
  stop(): Promise<void>
}

export type CompositionOptions = {
  config: Config
  database: DatabaseConnection
  clock: Clock
  logger: Logger
  authSecret: string
  keyRing: KeyRing
  /** Replaces the gateway to real hosts. Tests only. */
  hostGateway?: Parameters<typeof createDockModules>[0]['hostGateway']
  /** Replaces the requests to receivers of webhooks. Tests only. */
  publicWeb?: PublicWeb
}

const healthTimeoutMs = 2_000

export function composeControlPlane(options: CompositionOptions): ControlPlane {
  const { config, clock, logger, authSecret } = options
  const { db, pool } = options.database
  const sealer = createSealer({ db, clock, ring: options.keyRing, columns: sealedColumns })
  const counters = config.redisUrl === undefined ? null : openRedisCounters(config.redisUrl, logger)
  const rateLimits = createRateLimits(counters)
  const metrics = createMetrics()
  const connector = createLinkedSignIns({
    ...{ db, clock, sealer, social: config.social },
    roleOf: async (userId, organizationId) =>
      (await findMembership(db, userId, organizationId))?.role ?? null,
  })
  const precedence = new Precedence()
  const docks = createDockModules({
    db,
    clock,
    logger,
    policy: config.placement,
    hostLostAfterMs: config.hostLostAfterMs,
    defaultImage: config.defaultImage,
    catalog: imageCatalog,
    rateLimits,
    sealer,
    keyRing: options.keyRing,
    execTimeoutSecondsMax: config.execTimeoutSecondsMax,
    snapshotFileBytesMax: config.snapshotFileBytesMax,
    fingerprintKey: Buffer.from(hkdfSync('sha256', authSecret, '', 'dock idempotency fingerprint', 32)),
    billing: config.billing,
    limits: config.limits.organization,
    gitServers: config.gitServers,
    grantFor: createEnvironmentGrants({ db, sealer, logger }, connector),
    store: openObjectStore(
      config.objectStoreUrl,
      join(config.controlDir, 'objects'),
      config.objectReserveBytes,
    ),
    copySettings: config.copies,
    copyMetrics: metrics.copies,
    quarantined: metrics.quarantined,
    reapplyErasures: (erased) => people.reapplyErasures(erased),
    ...(options.hostGateway ? { hostGateway: options.hostGateway } : {}),
  })
  const transport = config.smtpUrl
    ? createSmtpTransport(config.smtpUrl, config.mailFrom)
    : createFileTransport(join(config.controlDir, 'outbox'), config.mailFrom)
  const mailer = createMailer({ db, clock, logger, transport, appUrl: config.appUrl })
  const tenants = createTenantModules({
    db,
    clock,
    logger,
    sealer,
    keyRing: options.keyRing,
    rateLimits,
    appUrl: config.appUrl,
    chatgpt: config.chatgpt,
    limits: config.limits,
    wakeMailer: mailer.wake,
    // The order matters: a Template holds its Dock, a Dock its Snapshots, a Snapshot its objects. Records and counters
    // are removed last, once everything that they describe is gone.
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
      { name: 'docks', remove: (id) => removeDocks(docks.context, id) },
      { name: 'copies', remove: docks.copies.removeAll },
      { name: 'operations', remove: (id) => removeOperations(db, id) },
      { name: 'webhook deliveries', remove: (id) => removeDeliveries(db, id) },
      { name: 'records of Docks', remove: (id) => removeDockRecords(db, id) },
      { name: 'counters', remove: (id) => deleteStorageCounters(db, id) },
    ],
  })
  const webhooks = createWebhooksModule({
    ...{ db, clock, logger, sealer, rateLimits },
    web: options.publicWeb ?? createPublicWeb({ allowLoopback: config.allowLoopbackWebhooks }),
  })
  const people = createPeopleModules({
    db,
    pool,
    clock,
    logger,
    config,
    authSecret,
    sealer,
    rateLimits,
    transport,
    mailer,
    wakeStops: docks.orderedStops.wake,
    wakeRemoval: tenants.removal.wake,
  })
  const connections = createConnectionModules({
    ...{ db, clock, logger, rateLimits, precedence },
    accessSignals: people.accessSignals,
    hosts: docks.context.gateway,
    activity: docks.context.activity,
    portsDomain: config.portsDomain,
    clientAddress: createClientAddress(config.trustedProxies),
  })
  const cookieName = sessionCookieName(config.apiUrl.startsWith('https:'))
  const handlers: Handlers = {
    ...people.handlers,
    ...tenants.handlers,
    ...instanceHandlers({
      defaultImage: config.defaultImage,
      servedImages: docks.context.images,
      facts: {
        billingEnabled: config.billing,
        apiUrl: config.apiUrl,
        appUrl: config.appUrl,
        mailDelivery: transport.delivery,
        chatgptSignIn: config.chatgpt !== undefined,
        ports: config.portsDomain && { domain: config.portsDomain.domain },
        authProviders: ['credential', ...Object.keys(config.social)],
      },
      contact: { db, clock, transport, rateLimits, recipient: config.contactEmail },
    }),
    ...docks.handlers,
    ...connections.handlers,
    ...webhookHandlers(webhooks.context),
  }
  const app = createHttpApp({
    handlers,
    gate: {
      credentials: createCredentials({
        authenticateApiKey: createApiKeyAuthentication({ db, clock, logger }),
        authenticateSession: createSessionAuthentication({ db, clock, secret: authSecret }),
        cookieName,
        origins: [new URL(config.apiUrl).origin, new URL(config.appUrl).origin],
        adminEmails: config.adminEmails,
      }),
      checkScope: createScopeCheck({
        ofOrganization: (userId, id) => findMembership(db, userId, id),
        ofWorkspace: (userId, id) => findWorkspaceMembership(db, userId, id),
      }),
    },
    logger,
    metrics,
    apiUrl: config.apiUrl,
    cookieName,
    trustedProxies: config.trustedProxies,
    signIn: people.signIn.handle,
    registerHost: docks.fleet.register,
    issueJoinToken: () => docks.enrolment.issueJoinToken({ isForBuilder: true }),
    checkHealth: async () => {
      if ((await waitAtMost(clock, healthTimeoutMs, sql`select 1`.execute(db))) === 'late')
        throw new Error('the database did not respond in time')
    },
  })
  let listener: Listener | undefined
  return {
    app,
    connectionHandlers: {
      upgradeOf: (path, protocol) => {
        const ofFleet = docks.fleet.upgradeOf(path, protocol)
        if (ofFleet || protocol !== 'websocket') return ofFleet
        return connections.terminals.takes(path) ? connections.terminals.upgrade : undefined
      },
      ports: connections.ports,
    },
    precedence,
    handlers,
    docks,
    accessSignals: people.accessSignals,
    sealer,
    tenants,
    metrics,
    start: async () => {
      mailer.start()
      tenants.start()
      people.start()
      webhooks.start()
      listener = listen({
        url: options.database.url,
        on: {
          dock_engine: () => docks.runner.wake(),
          access_lost: people.accessSignals.notice,
          port_routes: connections.noticeRoute,
          snapshot_completed: docks.copies.noticeSnapshot,
          snapshots_wiped: docks.copies.noticeWiped,
          retention: docks.noticeRetention,
          webhook_deliveries: webhooks.wake,
        },
        clock,
        onLost: (error) =>
          logger.warn({ err: error }, 'lost the LISTEN connection to the database; reconnecting'),
      })
      await docks.start()
    },
    stop: async () => {
      connections.close()
      await listener?.close()
      await tenants.stop()
      await docks.stop()
      await webhooks.stop()
      await people.stop()
      await mailer.stop()
      counters?.close()
    },
  }
}
