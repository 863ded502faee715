/** The HTTP face: every route of the contract, sign-in, the contract itself, health, and the door for hosts. */
import { openApiDocument, type Route, routes, ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'
import { Hono } from 'hono'
import { createClientAddress } from '../client-address.ts'
import type { SignInRequest } from '../modules/accounts/index.ts'
import { answerRoute, type BoundHandler, type Gate, honoPath } from './bind-route.ts'
import { failure, success, toServiceError } from './envelope.ts'
import { forMethod } from './for-method.ts'
import type { Handlers } from './handler.ts'
import type { Metrics } from './metrics.ts'
import { readJsonBody, strangerBodyBytesMax } from './read-body.ts'
import { type HttpEnvironment, observeRequests } from './request-context.ts'
import { isFromRoot } from './root-door.ts'
import { securityHeaders } from './security-headers.ts'

export type HttpOptions = {
  handlers: Handlers
  gate: Gate
  logger: Logger
  metrics: Metrics
  apiUrl: string
  cookieName: string
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[]
  /** Answers a request under /api/auth. */
  signIn(request: SignInRequest): Promise<Response>
  /** Registration of hosts, given the parsed body and the peer's address. */
  registerHost(body: unknown, clientAddress: string): Promise<unknown>
  /** A join token for the embedded host, which builds images; asked for by root alone. */
  issueJoinToken(): Promise<string>
  /** Rejects while the instance cannot serve. */
  checkHealth(): Promise<void>
}

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
  app.onError((error, context) =>
    failure(toServiceError(error, logger.child({ requestId: context.get('requestId') }))),
  )
  app.notFound(() => failure(new ServiceError('not_found')))

  for (const [name, route] of Object.entries<Route>(routes)) {
    const handler = handlers[name as keyof Handlers] as unknown as BoundHandler | undefined
    app.on(route.method, honoPath(route.path), async (context) => {
      context.set('route', route.path)
      return forMethod(context.req.raw.method, await answerRoute(context, route, handler, gate))
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
      body: method === 'POST' ? await readJsonBody(context.req.raw, strangerBodyBytesMax) : undefined,
      clientAddress: context.get('clientAddress'),
    })
  })

  app.post('/v1/fleet/register', async (context) => {
    context.set('route', '/v1/fleet/register')
    const body = await readJsonBody(context.req.raw, strangerBodyBytesMax)
    return success(await options.registerHost(body, context.get('clientAddress')), 201, true)
  })

  // The embedded host's agent reads nothing that this process could have written elsewhere: it asks on root's socket.
  app.post('/v1/fleet/join-token', async (context) => {
    context.set('route', '/v1/fleet/join-token')
    if (!isFromRoot(context.env?.incoming)) throw new ServiceError('not_found')
    return success({ joinToken: await options.issueJoinToken() }, 201, true)
  })

  let document: string | undefined
  app.get('/openapi.json', (context) => {
    context.set('route', '/openapi.json')
    document ??= JSON.stringify(
      openApiDocument({ serverUrl: options.apiUrl, cookieName: options.cookieName }),
    )
    return context.body(document, 200, { 'content-type': 'application/json; charset=utf-8' })
  })

  app.get('/health', async (context) => {
    context.set('route', '/health')
    try {
      await options.checkHealth()
    } catch (error) {
      throw new ServiceError('service_unavailable', { cause: error })
    }
    return success({ status: 'ready' }, 200, true)
  })
  return app
}
