/** The complete control plane in the test's process, with a new database and a first person, who makes the calls. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CompositionOptions,
  type ControlPlane,
  composeControlPlane,
} from '@dock/control-plane/composition'
import { type Config, readConfig } from '@dock/control-plane/config'
import { type AdminFile, ensureFirstUser } from '@dock/control-plane/first-person'
import { newRingEntry, parseKeyRing } from '@dock/control-plane/sealing'
import { type ClientTimeouts, type HttpServer, serveHttp } from '@dock/control-plane/serve'
import { type Clock, createLogger, systemClock } from '@dock/foundation'
import { createFakeReceivers, type FakeReceivers } from './fake-receivers.ts'
import { createFreshDatabase, type FreshDatabase } from './fresh-database.ts'

export type Answer = {
  status: number
  headers: Headers
  body: { ok: boolean; code?: string; message?: string; data?: unknown }
}

export type TestControlPlane = {
  controlPlane: ControlPlane
  database: FreshDatabase
  config: Config
  admin: AdminFile
  /** The receivers of webhooks. */
  receivers: FakeReceivers
  /** Sends a request in memory, without a listening socket. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Sends a JSON request with the first person's API key, another `key`, or no credentials if `key` is null. */
  call(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>
  /** Signs in, by default as the first person. Returns the headers for requests with the session. */
  signIn(email?: string, password?: string): Promise<{ cookie: string; origin: string }>
  /** Listens on this loopback port, or on a free one, until {@link stop}. */
  listen(timeouts?: ClientTimeouts, port?: number): Promise<HttpServer>
  /** Lets the SSH gateway listen on a free loopback port, which it returns. Set DOCK_SSH_PORT to create the gateway. */
  listenForSsh(): Promise<number>
  stop(): Promise<void>
}

export type TestControlPlaneOptions = {
  environment?: Record<string, string>
  /** Default limits of an organization, in place of the product's. */
  limits?: Partial<Config['limits']['organization']>
  clock?: Clock
  /** Receives log lines. If undefined, nothing is logged. */
  logTo?: (line: string) => void
  hostGateway?: CompositionOptions['hostGateway']
  /** Replaces the receivers of webhooks. By default requests to receivers stay in memory. */
  publicWeb?: CompositionOptions['publicWeb']
  /** Replaces the payment company. */
  billingProvider?: CompositionOptions['billingProvider']
  /** Receives what people ask for at GitHub. */
  runs?: CompositionOptions['runs']
}

/** The secret that signs session cookies in tests. */
export const testAuthSecret = 'a secret of tests, at least 32 characters'

const testPassword = 'correct horse battery'

/** Composes a control plane, creates the first person and starts it. Call `stop` at the end. */
export async function startTestControlPlane(
  options: TestControlPlaneOptions = {},
): Promise<TestControlPlane> {
  const database = await createFreshDatabase()
  const controlDir = await mkdtemp(join(tmpdir(), 'dock-control-'))
  const read = readConfig({
    DATABASE_URL: database.url,
    DOCK_CONTROL_DIR: controlDir,
    DOCK_ADMIN_PASSWORD: testPassword,
    DOCK_EMBEDDED_HOST: 'off',
    DEFAULT_IMAGE: 'debian-13',
    DOCK_LIMIT_ORGANIZATIONS: '10000',
    ...options.environment,
  })
  const organization = { ...read.limits.organization, ...options.limits }
  const config = { ...read, limits: { ...read.limits, organization } }
  const clock = options.clock ?? systemClock
  const logger = createLogger('test', { write: options.logTo ?? (() => undefined) })
  logger.level = options.logTo ? 'trace' : 'silent'
  const receivers = createFakeReceivers()
  const controlPlane = composeControlPlane({
    config,
    database,
    clock,
    logger,
    authSecret: testAuthSecret,
    keyRing: parseKeyRing(newRingEntry()),
    ...(options.hostGateway ? { hostGateway: options.hostGateway } : {}),
    publicWeb: options.publicWeb ?? receivers,
    ...(options.billingProvider ? { billingProvider: options.billingProvider } : {}),
    ...(options.runs ? { runs: options.runs } : {}),
  })
  await ensureFirstUser(database.db, {
    controlDir,
    baseUrl: config.apiUrl,
    image: config.defaultImage,
    email: config.admin.email,
    password: config.admin.password,
    now: clock.now(),
  })
  const admin = JSON.parse(await readFile(join(controlDir, 'admin.json'), 'utf8')) as AdminFile
  await controlPlane.start()
  const servers: HttpServer[] = []
  const send = async (path: string, init?: RequestInit): Promise<Response> =>
    controlPlane.app.fetch(new Request(`${config.apiUrl}${path}`, init))
  return {
    controlPlane,
    database,
    config,
    admin,
    receivers,
    fetch: send,
    call: async (method, path, body, key = admin.apiKey) => {
      const response = await send(path, {
        method,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, headers: response.headers, body: await response.json() } as Answer
    },
    signIn: async (email = admin.email, password = admin.password) => {
      const response = await send('/api/auth/sign-in/email', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: config.apiUrl },
        body: JSON.stringify({ email, password }),
      })
      if (!response.ok) throw new Error(`sign-in failed with ${response.status}: ${await response.text()}`)
      const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0])
      return { cookie: cookies.join('; '), origin: config.apiUrl }
    },
    listen: async (timeouts, port = 0) => {
      const server = await serveHttp({
        app: controlPlane.app,
        connectionHandlers: controlPlane.connectionHandlers,
        precedence: controlPlane.precedence,
        bind: '127.0.0.1',
        port,
        ...(timeouts ? { timeouts } : {}),
        onConnectionError: (error) => {
          throw error
        },
      })
      servers.push(server)
      return server
    },
    listenForSsh: async () => {
      if (!controlPlane.ssh) throw new Error('DOCK_SSH_PORT is not set')
      return controlPlane.ssh.listen({ host: '127.0.0.1', port: 0 })
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.drain(1_000)))
      await controlPlane.stop()
      for (const server of servers) server.close()
      await database.drop()
      await rm(controlDir, { recursive: true, force: true })
    },
  }
}
