/** The HTTP application: all routes of the contract, sign-in, the OpenAPI document, health, and host registration. */
import { fileURLToPath } from 'node:url'
import { openApiDocument, type Route, routes, ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'
import { Hono } from 'hono'
import manifest from '../../package.json' with { type: 'json' }
import { createClientAddress } from '../client-address.ts'
import type { SignInRequest, SignUpPolicy } from '../modules/accounts/index.ts'
import { EventNotGenuine } from '../modules/billing/index.ts'
import type { ReceiveWebhook } from '../modules/github/index.ts'
import type { Handlers } from '../routing/handler.ts'
import { type BoundHandler, type Gate, handleRoute, honoPath } from './bind-route.ts'
import { addDashboardPages } from './dashboard-pages.ts'
import { addDevicePages, type DevicePagesOptions } from './device-pages.ts'
import { addDocsSite } from './docs-site.ts'
import { failure, success, toServiceError } from './envelope.ts'
import { createLargeBodies } from './large-bodies.ts'
import { addMcpEndpoint } from './mcp-endpoint.ts'
import type { Metrics } from './metrics.ts'
import { packOnce } from './packed-body.ts'
import {
  anonymousBodyBytesMax,
  billingEventBytesMax,
  brokenBody,
  githubEventBytesMax,
  readJsonBody,
  readTextBody,
  smallGithubEventBytesMax,
} from './read-body.ts'
import { type HttpEnvironment, observeRequests } from './request-context.ts'
import { isFromRoot } from './root-socket.ts'
import { securityHeaders } from './security-headers.ts'
import { stripHeadBody } from './strip-head-body.ts'
import { addUnsubscribePages, type UnsubscribePagesOptions } from './unsubscribe-pages.ts'

export type HttpOptions = UnsubscribePagesOptions & {
  handlers: Handlers
  gate: Gate
  logger: Logger
  metrics: Metrics
  apiUrl: string
  cookieName: string
  /** Origins of this service and of its dashboard. */
  origins: readonly string[]
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[]
  /** Handles a request under /api/auth. */
  signIn(request: SignInRequest): Promise<Response>
  /** Handles a signed event of the payment company. Undefined: none is configured. */
  billingEvent: ((payload: string, signature: string) => Promise<void>) | undefined
  /** The address of GitHub, to which the dashboard sends the form that makes the instance's App. */
  githubUrl: string
  /** Who may make an account. */
  signUp: SignUpPolicy
  /** Saves a webhook of GitHub. */
  receiveGithubWebhook: ReceiveWebhook
  /** Registers a host, given the parsed body and the client's address. */
  registerHost(body: unknown, clientAddress: string): Promise<unknown>
  /** Returns a join token for the embedded host, which builds images. Only root may request it. */
  issueJoinToken(): Promise<string>
  /** The folder of the built documentation; `.tools/docs/site` when omitted. */
  docsFolder?: string
  /** Throws `rate_limited` if the user has sent too many requests to /mcp. */
  countMcpRequest(userId: string): Promise<void>
  /** Rejects if the instance cannot serve requests. */
  checkHealth(): Promise<void>
  devicePages: Pick<DevicePagesOptions, 'approval' | 'socialProviders' | 'organizationsOf'>
}

/** Where script/install/docs builds the documentation. */
const builtDocs = fileURLToPath(new URL('../../../../.tools/docs/site', import.meta.url))

const signInBase = '/api/auth'

export type HttpApp = Hono<HttpEnvironment>

export function createHttpApp(options: HttpOptions): HttpApp {
  const { handlers, gate, logger } = options
  const app: HttpApp = new Hono<HttpEnvironment>()
  app.use(
    '*',
    observeRequests({
      logger,
      metrics: options.metrics,
      clientAddress: createClientAddress(options.trustedProxies),
      secureHeaders: securityHeaders(options.apiUrl.startsWith('https:')),
    }),
  )
  app.onError((error, context) => {
    // A handler that streams the body gets the error of the connection itself.
    const isOfCaller = error === context.env?.incoming?.errored
    const known = isOfCaller ? brokenBody(error) : error
    return failure(toServiceError(known, logger.child({ requestId: context.get('requestId') })))
  })
  app.notFound(() => failure(new ServiceError('not_found')))

  for (const [name, route] of Object.entries<Route>(routes)) {
    const handler = handlers[name as keyof Handlers] as unknown as BoundHandler | undefined
    app.on(route.method, honoPath(route.path), async (context) => {
      context.set('route', route.path)
      return stripHeadBody(context.req.raw.method, await handleRoute(context, route, handler, gate))
    })
  }

  app.on(['GET', 'POST'], `${signInBase}/*`, async (context) => {
    context.set('route', `${signInBase}/*`)
    const { method, url, headers } = context.req.raw
    const { pathname, search } = new URL(url)
    return options.signIn({
      method,
      path: pathname.slice(signInBase.length),
      search,
      headers,
      body: method === 'POST' ? await readJsonBody(context.req.raw, anonymousBodyBytesMax) : undefined,
      clientAddress: context.get('clientAddress'),
    })
  })

  app.post('/v1/billing/events', async (context) => {
    context.set('route', '/v1/billing/events')
    if (!options.billingEvent) throw new ServiceError('not_found')
    const payload = await readTextBody(context.req.raw, billingEventBytesMax)
    try {
      await options.billingEvent(payload, context.req.header('stripe-signature') ?? '')
    } catch (error) {
      if (error instanceof EventNotGenuine)
        throw new ServiceError('validation_error', { message: 'The signature does not match.', cause: error })
      // The company sends the event again.
      throw new ServiceError('service_unavailable', { cause: error })
    }
    return success({ received: true }, 200, true)
  })

  const githubEvents = createLargeBodies({
    bytesMax: githubEventBytesMax,
    smallBytesMax: smallGithubEventBytesMax,
    atOnceMax: 4,
  })
  app.post('/v1/github/events', async (context) => {
    context.set('route', '/v1/github/events')
    await githubEvents.use(context.req.raw, (readBody) =>
      options.receiveGithubWebhook({
        readBody,
        event: context.req.header('x-github-event'),
        deliveryId: context.req.header('x-github-delivery'),
        signature: context.req.header('x-hub-signature-256'),
      }),
    )
    return success({ received: true }, 202, true)
  })

  app.post('/v1/fleet/register', async (context) => {
    context.set('route', '/v1/fleet/register')
    const body = await readJsonBody(context.req.raw, anonymousBodyBytesMax)
    return success(await options.registerHost(body, context.get('clientAddress')), 201, true)
  })

  // The embedded host's agent runs as root, so it does not read a token from a file that this process can write. It
  // requests one over the socket that only root can connect to.
  app.post('/v1/fleet/join-token', async (context) => {
    context.set('route', '/v1/fleet/join-token')
    if (!isFromRoot(context.env?.incoming)) throw new ServiceError('not_found')
    return success({ joinToken: await options.issueJoinToken() }, 201, true)
  })

  addUnsubscribePages(app, options)
  addDevicePages(app, {
    ...options.devicePages,
    credentials: gate.credentials,
    apiUrl: options.apiUrl,
    signIn: options.signIn,
  })
  addDocsSite(app, options.docsFolder ?? builtDocs)

  addMcpEndpoint(app, {
    credentials: gate.credentials,
    logger,
    apiUrl: options.apiUrl,
    origins: options.origins,
    countRequest: options.countMcpRequest,
  })

  let document: ReturnType<typeof packOnce> | undefined
  app.get('/openapi.json', async (context) => {
    context.set('route', '/openapi.json')
    document ??= packOnce(
      Buffer.from(
        JSON.stringify(openApiDocument({ serverUrl: options.apiUrl, cookieName: options.cookieName })),
      ),
    )
    const { body, encoding } = await document(context.req.raw.headers)
    return context.body(body, 200, {
      'content-type': 'application/json; charset=utf-8',
      vary: 'accept-encoding',
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    })
  })

  app.get('/health', async (context) => {
    context.set('route', '/health')
    try {
      await options.checkHealth()
    } catch (error) {
      throw new ServiceError('service_unavailable', { cause: error })
    }
    return success({ status: 'ready', version: manifest.version }, 200, true)
  })
  addDashboardPages(app, { formTarget: options.githubUrl, signUp: options.signUp })
  return app
}
