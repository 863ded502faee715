/** The only place that constructs the parts of the control plane and connects them. */
import { hkdfSync } from 'node:crypto'
import { join } from 'node:path'
import { type Clock, type Logger, Precedence, waitAtMost } from '@dock/foundation'
import { sql } from 'kysely'
import { createClientAddress } from './client-address.ts'
import type { Config } from './config/config.ts'
import type { DatabaseConnection } from './database/database.ts'
import { type Channels, type Listener, listen } from './database/listen.ts'
import { createDockModules, type DockModules } from './dock-modules.ts'
import { createServeRunDoor } from './gateways/git/index.ts'
import { createPortGateway } from './gateways/ports/index.ts'
import { createSshGateway, type SshGateway } from './gateways/ssh/index.ts'
import { createStripeProvider } from './gateways/stripe/index.ts'
import { createTerminalGateway } from './gateways/terminal/index.ts'
import { createMail } from './mail/index.ts'
import { type AccessSignals, createAccountsModule } from './modules/accounts/index.ts'
import { createAuditModule } from './modules/audit/index.ts'
import { type BillingModule, type BillingProvider, createBillingModule } from './modules/billing/index.ts'
import { createClosureModule } from './modules/closure/index.ts'
import { createConnectorsModule } from './modules/connectors/index.ts'
import { refusesSecrets } from './modules/docks/index.ts'
import { createFilesModule } from './modules/files/index.ts'
import { createGithubModule, type GithubModule, type RunSink } from './modules/github/index.ts'
import { createInstanceModule, imageCatalog } from './modules/instance/index.ts'
import { createKeysModule } from './modules/keys/index.ts'
import { createLimitsModule } from './modules/limits/index.ts'
import { createLiveModule } from './modules/live/index.ts'
import { createNotificationsModule } from './modules/notifications/index.ts'
import {
  createOrganizationsModule,
  listOrganizations,
  type OrganizationRemoval,
} from './modules/organizations/index.ts'
import { createPortsModule } from './modules/ports/index.ts'
import { createProcessesModule } from './modules/processes/index.ts'
import { countRunsAtWork, createRunsModule } from './modules/runs/index.ts'
import { createTerminalsModule } from './modules/terminals/index.ts'
import { createPublicWeb, createWebhooksModule, type PublicWeb } from './modules/webhooks/index.ts'
import { openObjectStore } from './object-store/index.ts'
import { createRateLimits } from './rate-limits/rate-limits.ts'
import type { CounterStore } from './rate-limits/redis-counters.ts'
import type { Handlers } from './routing/handler.ts'
import { sealedColumns } from './sealed-columns.ts'
import { createKeyUpkeep, createSealer, type KeyRing, type Sealer } from './sealing/index.ts'
import { createHttpApp, type HttpApp } from './server/app.ts'
import { createScopeCheck } from './server/check-scope.ts'
import { createCredentials } from './server/credentials.ts'
import { createMetrics, type Metrics } from './server/metrics.ts'
import type { ConnectionHandlers } from './server/serve.ts'

/** Disk space that copies in the folder leave free, because the database may be on the same disk. */
const objectReserveBytes = 2 * 2 ** 30

export type ControlPlane = {
  app: HttpApp
  connectionHandlers: ConnectionHandlers
  /** Lets API requests go before the bodies of hosted ports. */
  precedence: Precedence
  /** Null: the SSH gateway is off. */
  ssh: SshGateway | null
  handlers: Handlers
  docks: DockModules
  accessSignals: AccessSignals
  sealer: Sealer
  removal: OrganizationRemoval
  billing: BillingModule
  github: GithubModule
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
  /** The store of the rate limits, if several control planes share one. */
  counters?: CounterStore | null
  /** Made by the caller if it counts something itself. */
  metrics?: Metrics
  /** Replaces the gateway to real hosts. */
  hostGateway?: Parameters<typeof createDockModules>[0]['hostGateway']
  /** Replaces the requests to receivers of webhooks. */
  publicWeb?: PublicWeb
  /** Replaces the payment company. */
  billingProvider?: BillingProvider
  /** Replaces what receives the wishes of people at GitHub. */
  runs?: RunSink
}

/** What the composition joins of each module. They start in their order. */
type Module = {
  routes?: Handlers
  listens?: Channels
  start?(): void | Promise<void>
  stop?(): void | Promise<void>
}

const healthTimeoutMs = 2_000

export function composeControlPlane(options: CompositionOptions): ControlPlane {
  const { config, clock, logger, authSecret } = options
  const { db } = options.database
  const sealer = createSealer({ db, clock, ring: options.keyRing, columns: sealedColumns })
  const rateLimits = createRateLimits(options.counters)
  const metrics = options.metrics ?? createMetrics()
  const precedence = new Precedence()
  /** What nearly every module needs. */
  const shared = { db, clock, logger, sealer, rateLimits }
  const connectors = createConnectorsModule({ ...shared, social: config.social })
  const docks = createDockModules({
    ...shared,
    policy: config.placement,
    hostLostAfterMs: config.hostLostAfterMs,
    defaultImage: config.defaultImage,
    runImage: config.runImage,
    catalog: imageCatalog,
    keyRing: options.keyRing,
    execTimeoutSecondsMax: config.execTimeoutSecondsMax,
    fingerprintKey: Buffer.from(hkdfSync('sha256', authSecret, '', 'dock idempotency fingerprint', 32)),
    billing: config.billing,
    limits: config.limits.organization,
    gitServers: config.gitServers,
    // While a Run drives a Dock, git there reaches the Run's repository and nothing else.
    serveRun: (...request) => serveRun(...request),
    grantFor: async (dock) => (await runs.grantFor(dock)) ?? connectors.grantFor(dock),
    store: openObjectStore(config.objectStoreUrl, join(config.controlDir, 'objects'), objectReserveBytes),
    copySettings: config.copies,
    copyMetrics: metrics.copies,
    quarantined: metrics.quarantined,
    precedence,
    reapplyErasures: (erased) => closure.reapplyErasures(erased),
    ...(options.hostGateway ? { hostGateway: options.hostGateway } : {}),
  })
  const audit = createAuditModule(shared)
  const notifications = createNotificationsModule({ ...shared, apiUrl: config.apiUrl, secret: authSecret })
  const mail = createMail({
    ...shared,
    smtpUrl: config.smtpUrl,
    mailFrom: config.mailFrom,
    appUrl: config.appUrl,
    folder: join(config.controlDir, 'outbox'),
    unsubscribeLink: notifications.unsubscribing.linkOf,
  })
  const limits = createLimitsModule({ db, clock, defaults: config.limits.organization })
  const billing = createBillingModule({
    ...shared,
    plans: config.plans,
    provider: options.billingProvider ?? (config.stripe && createStripeProvider(config.stripe)),
  })
  const organizations = createOrganizationsModule({
    ...shared,
    appUrl: config.appUrl,
    wakeMailer: mail.wake,
    organizationsPerPerson: config.limits.organizationsPerPerson,
    limits: config.limits.organization,
    countRunsAtWork,
    // The order matters: a link starts Runs, a Run drives its Dock, a Template holds its Dock, a Dock its Snapshots, a
    // Snapshot its objects. Records and counters are removed last, once everything that they describe is gone.
    resources: [
      { name: 'links with GitHub', remove: (organizationId) => github.unlinkOrganization(organizationId) },
      { name: 'Runs', remove: (organizationId) => countRunsAtWork(db, { organizationId }) },
      ...docks.resources,
      { name: 'mails', remove: mail.removeAbout },
      { name: 'usage', remove: billing.removeUsage },
      { name: 'counters', remove: limits.removeCounters },
    ],
  })
  const webhooks = createWebhooksModule({
    ...shared,
    web:
      options.publicWeb ??
      createPublicWeb({ allowLoopback: config.allowLoopbackWebhooks, ownHosts: config.webhookHosts }),
  })
  const keys = createKeysModule({ ...shared, chatgpt: config.chatgpt, apiUrl: config.apiUrl })
  const keyUpkeep = createKeyUpkeep({ ...shared, ring: options.keyRing, columns: sealedColumns })
  const accounts = createAccountsModule({
    ...shared,
    connections: options.database.connections,
    secret: authSecret,
    refusesSecrets,
    apiUrl: config.apiUrl,
    appUrl: config.appUrl,
    signUp: config.signUp,
    social: config.social,
    isInvited: organizations.isInvited,
    recordSignUp: organizations.recordSignUp,
    dropKeys: keys.dropKeys,
    sendMail: mail.send,
  })
  const closure = createClosureModule({
    ...shared,
    controlDir: config.controlDir,
    wakeStops: docks.docks.orderedStops.wake,
    wakeRemoval: organizations.removal.wake,
    forgetMails: mail.transport.forget,
  })
  // The two modules call each other: GitHub's triggers start Runs, and Runs write to GitHub.
  const runSink: RunSink = {
    startRun: (tx, trigger) => (options.runs ?? runs.sink).startRun(tx, trigger),
    signalRun: (tx, signal) => (options.runs ?? runs.sink).signalRun(tx, signal),
    isRunPullRequest: (...of) => (options.runs ?? runs.sink).isRunPullRequest(...of),
    wake: () => (options.runs ?? runs.sink).wake(),
  }
  const github = createGithubModule({
    ...shared,
    runs: runSink,
    settings: config.githubApp,
    githubUrl: config.gitServers.github,
    apiUrl: config.apiUrl,
    appUrl: config.appUrl,
  })
  const instance = createInstanceModule({
    defaultImage: config.defaultImage,
    listBuilt: docks.images.listBuilt,
    isGithubAppConfigured: github.isConfigured,
    facts: {
      billingEnabled: config.billing,
      apiUrl: config.apiUrl,
      appUrl: config.appUrl,
      mailDelivery: mail.transport.delivery,
      chatgptSignIn: config.chatgpt !== undefined,
      ports: config.portsDomain && { domain: config.portsDomain.domain },
      ssh: config.ssh && { host: config.ssh.host, port: config.ssh.port },
      authProviders: ['credential', ...Object.keys(config.social)],
    },
    contact: {
      db,
      clock,
      rateLimits,
      recipient: config.contactEmail,
      transport: mail.transport,
      instance: mail.instance,
    },
  })
  const hosts = docks.gateway
  const { activity } = docks.docks
  const terminals = createTerminalsModule({ ...shared, hosts, activity })
  const { accessSignals } = accounts
  const files = createFilesModule({ docks: docks.context, rateLimits, accessSignals })
  const ports = createPortsModule({ db, clock, domain: config.portsDomain })
  const processes = createProcessesModule({ ...shared, hosts, activity, accessSignals })
  const runs = createRunsModule({
    ...shared,
    owner: docks.owner,
    docks: docks.context,
    gateway: docks.gateway,
    github: github.operations,
    gitServer: config.gitServers.github,
    appUrl: config.appUrl,
    image: config.runImage,
    isFastOn: config.fastRuns,
    machines: docks.docks.machines,
  })
  const serveRun = createServeRunDoor({ door: runs.door, servers: config.modelServers })
  const live = createLiveModule(shared)
  const terminalGateway = createTerminalGateway({ context: terminals.context, accessSignals, logger })
  const portGateway =
    config.portsDomain &&
    createPortGateway({
      domain: config.portsDomain,
      routes: ports.hosted,
      hosts,
      precedence,
      logger,
      clientAddress: createClientAddress(config.trustedProxies),
    })
  const ssh =
    config.ssh &&
    createSshGateway({
      docks: docks.context,
      keys: keys.sshKeyAccess,
      accessSignals,
      logger,
      precedence,
      metrics: metrics.ssh,
      address: config.ssh,
      readHostKeys: keys.ensureSshHostKeys,
    })
  const modules: readonly Module[] = [
    accounts,
    audit,
    billing,
    live,
    organizations,
    keyUpkeep,
    closure,
    files,
    github,
    instance,
    keys,
    limits,
    notifications,
    ports,
    processes,
    runs,
    terminals,
    webhooks,
    docks,
    {
      listens: {
        port_routes: (label) => portGateway?.notice(label),
        ssh_host_keys: () => ssh?.noticeHostKeys(),
      },
    },
  ]
  const handlers: Handlers = Object.assign({}, ...modules.map(({ routes }) => routes))
  const origins = [new URL(config.apiUrl).origin, new URL(config.appUrl).origin]
  const app = createHttpApp({
    handlers,
    countMcpRequest: (userId) => rateLimits.take('mcpRequests', userId),
    gate: {
      credentials: createCredentials({
        authenticateApiKey: keys.authenticateApiKey,
        authenticateSession: accounts.authenticateSession,
        cookieName: accounts.cookieName,
        origins,
        adminEmails: config.adminEmails,
      }),
      checkScope: createScopeCheck(organizations.memberships),
    },
    logger,
    metrics,
    apiUrl: config.apiUrl,
    cookieName: accounts.cookieName,
    origins,
    trustedProxies: config.trustedProxies,
    signIn: accounts.signIn.handle,
    unsubscribing: notifications.unsubscribing,
    instanceName: mail.instance.name,
    devicePages: {
      approval: keys.deviceApproval,
      socialProviders: Object.keys(config.social),
      organizationsOf: (caller) => listOrganizations(db, caller),
    },
    billingEvent: billing.handleEvent,
    githubUrl: config.gitServers.github,
    signUp: config.signUp,
    receiveGithubWebhook: github.receiveWebhook,
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
        return terminalGateway.takes(path) ? terminalGateway.upgrade : undefined
      },
      ports: portGateway,
    },
    precedence,
    ssh,
    handlers,
    docks,
    accessSignals,
    sealer,
    removal: organizations.removal,
    billing,
    github,
    metrics,
    start: async () => {
      mail.start()
      for (const module of modules) await module.start?.()
      // It calls every callback once it is connected, so no notification from before is missed.
      listener = listen({
        url: options.database.url,
        on: joinChannels(modules),
        clock,
        onLost: (error) =>
          logger.warn({ err: error }, 'lost the LISTEN connection to the database; reconnecting'),
      })
    },
    stop: async () => {
      terminalGateway.close()
      portGateway?.close()
      ssh?.close()
      await listener?.close()
      // Organizations are removed by the other modules, so that ends first. The modules send mails, so the mailer ends last.
      await organizations.stop()
      await Promise.all(modules.map((module) => module.stop?.()))
      await mail.stop()
      options.counters?.close()
    },
  }
}

/** Joins the callbacks of the modules. A channel may have several. */
const joinChannels = (modules: readonly Module[]): Channels => {
  const joined = new Map<string, (payload?: string) => void>()
  for (const [channel, notice] of modules.flatMap(({ listens = {} }) => Object.entries(listens))) {
    const earlier = joined.get(channel)
    joined.set(channel, (payload) => {
      earlier?.(payload)
      notice(payload)
    })
  }
  return Object.fromEntries(joined)
}
