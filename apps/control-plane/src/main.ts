/**
 * Starts one control plane. On SIGTERM or SIGINT it stops in order: it takes no new requests, finishes those under way,
 * stops its background work, and closes the database.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '@dock/contract'
import {
  compileOnly,
  createLogger,
  guardProcess,
  type Logger,
  listMailNotices,
  logConsole,
  systemClock,
} from '@dock/foundation'
import { ensureAuthSecret } from './auth-secret.ts'
import { isIn } from './client-address.ts'
import { composeControlPlane } from './composition.ts'
import { type Config, readConfig } from './config/config.ts'
import { openDatabase } from './database/database.ts'
import { holdInstanceLock } from './database/instance-lock.ts'
import { migrate } from './database/migrate.ts'
import { HostRefused, HostUnreachable } from './modules/hosts/index.ts'
import { ensureFirstUser } from './modules/instance/index.ts'
import { openRedisCounters } from './rate-limits/redis-counters.ts'
import { checkKeyRing, ensureKeyRing } from './sealing/index.ts'
import { createConnectionLimits, shareConnections } from './server/connection-limits.ts'
import { createMetrics, serveMetrics } from './server/metrics.ts'
import { serveHttp } from './server/serve.ts'

const defaultMetricsPort = 9464
const drainMs = 10_000

const listenForMetrics = async (
  config: Config,
  registry: Parameters<typeof serveMetrics>[0],
  logger: Logger,
) => {
  try {
    return await serveMetrics(registry, config.metricsPort ?? defaultMetricsPort)
  } catch (error) {
    if (config.metricsPort !== undefined) throw error
    logger.warn(
      { port: defaultMetricsPort },
      'metrics are off because the port is in use; set DOCK_METRICS_PORT to a free port',
    )
    return undefined
  }
}

const run = async (logger: Logger): Promise<void> => {
  const config = readConfig(process.env)
  // Removed once read, so that no other code in this process can read or leak them.
  delete process.env.DOCK_ADMIN_PASSWORD
  delete process.env.DOCK_SECRET_KEYS
  delete process.env.STRIPE_SECRET_KEY
  delete process.env.STRIPE_WEBHOOK_SECRET
  for (const notice of listMailNotices({ ...config, publicUrl: config.apiUrl })) logger.warn(notice)
  if (config.allowLoopbackWebhooks)
    logger.warn(
      'DOCK_ALLOW_INSECURE_WEBHOOKS is set: webhooks may go to this machine. Use it for development only.',
    )
  await mkdir(join(config.controlDir, 'run'), { recursive: true, mode: 0o700 })
  let end: (exitCode: number) => void = (exitCode) => process.exit(exitCode)
  const metrics = createMetrics()
  logConsole(logger)
  guardProcess({
    logger,
    streamErrors: [ServiceError, HostUnreachable, HostRefused],
    count: metrics.uncaught,
    leave: () => end(1),
  })
  const lock = await holdInstanceLock(config.databaseUrl, (error) => {
    logger.fatal({ err: error }, 'lost the instance lock on the database; stopping')
    end(1)
  })
  const applied = await migrate(config.databaseUrl)
  if (applied.length > 0) logger.info({ applied }, 'database migrated')
  const database = openDatabase({
    url: config.databaseUrl,
    maxConnections: config.databaseConnections,
    statementTimeoutMs: 120_000,
    onIdleError: (error) => logger.warn({ err: error }, 'lost an idle database connection; it is replaced'),
  })
  const authSecret = config.authSecret ?? (await ensureAuthSecret(config.controlDir))
  const keyRing = await ensureKeyRing(config)
  await checkKeyRing(database.db, keyRing)
  const counters = config.redisUrl === undefined ? null : await openRedisCounters(config.redisUrl, logger)
  const controlPlane = composeControlPlane({
    config,
    database,
    clock: systemClock,
    logger,
    metrics,
    counters,
    authSecret,
    keyRing,
  })
  const created = await ensureFirstUser(database.db, {
    controlDir: config.controlDir,
    baseUrl: config.apiUrl,
    image: config.defaultImage,
    email: config.admin.email,
    password: config.admin.password,
    now: systemClock.now(),
  })
  if (created)
    logger.info(
      { file: join(config.controlDir, 'admin.json') },
      'created the first account; its password is in the file',
    )
  await controlPlane.start()
  const metricsServer = await listenForMetrics(config, metrics.registry, logger)
  const server = await serveHttp({
    app: controlPlane.app,
    connectionHandlers: controlPlane.connectionHandlers,
    precedence: controlPlane.precedence,
    bind: config.bind,
    port: config.port,
    listening: config.listening,
    connectionLimits: createConnectionLimits({
      shares: shareConnections(),
      isTrustedProxy: isIn(config.trustedProxies),
      onRefused: (network) =>
        logger.warn({ network }, 'refused connections: this network, or all together, have too many open'),
    }),
    onConnectionError: (error) => logger.warn({ err: error }, 'a connection failed'),
  })
  if (config.ssh) {
    const { fd, port } = config.ssh
    await controlPlane.ssh?.listen(fd === undefined ? { host: config.bind, port } : { fd })
  }

  let ending = false
  end = (exitCode) => {
    if (ending) return
    ending = true
    const stop = async (): Promise<void> => {
      await server.drain(exitCode === 0 ? drainMs : 0)
      await controlPlane.stop()
      server.close()
      metricsServer?.close()
      await database.close()
      await lock.release()
    }
    stop().then(
      () => {
        logger.info('control plane stopped')
        process.exit(exitCode)
      },
      (error: unknown) => {
        logger.error({ err: error }, 'control plane did not stop cleanly')
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(0))
  // Logged last: a reader of this line may send the signal at once.
  logger.info({ bind: config.bind, port: server.port }, 'control plane ready')
}

if (!compileOnly) {
  const logger = createLogger('control-plane')
  run(logger).catch((error: unknown) => {
    logger.fatal({ err: error }, 'control plane did not start')
    process.exit(1)
  })
}
