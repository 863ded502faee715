/** Middleware that sets a request's id and client address, and logs and measures the request when it ends. */

import type { Logger } from '@dock/foundation'
import { newUuid, runDescribed } from '@dock/foundation'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'
import type { ClientAddress } from '../client-address.ts'
import type { Metrics } from './metrics.ts'

export type RequestVariables = {
  requestId: string
  clientAddress: string
  /** The route's pattern; `unknown` until a route has matched. */
  route: string
  callerId: string | undefined
}

export type HttpEnvironment = { Variables: RequestVariables; Bindings: Partial<HttpBindings> }

export type RequestObservation = {
  logger: Logger
  metrics: Metrics
  clientAddress: ClientAddress
  /** Adds the security headers to a response. */
  secureHeaders(headers: Headers): void
}

/** Logs the route's pattern, never the path or query, which may contain tickets and tokens. */
export function observeRequests(options: RequestObservation): MiddlewareHandler<HttpEnvironment> {
  const { metrics, clientAddress, secureHeaders } = options
  // Redaction is off because the line has only the fields below, and redacting every line costs time.
  const logger = options.logger.child({}, { redact: [] })
  return async (context, next) => {
    const startedAt = performance.now()
    const requestId = newUuid()
    context.set('requestId', requestId)
    const peer = context.env?.incoming?.socket.remoteAddress
    context.set('clientAddress', clientAddress(peer, context.req.raw.headers.get('x-forwarded-for')))
    context.set('route', 'unknown')
    await runDescribed(
      () => ({ requestId, route: context.get('route'), callerId: context.get('callerId') }),
      next,
    )
    context.res.headers.set('x-request-id', requestId)
    secureHeaders(context.res.headers)
    const seconds = (performance.now() - startedAt) / 1000
    const { method } = context.req
    const { status } = context.res
    const route = context.get('route')
    metrics.observeRequest({ method, route, status, seconds })
    // Health checks would flood the log.
    const level = route === '/health' && status === 200 ? 'debug' : 'info'
    logger[level](
      {
        requestId,
        method,
        route,
        status,
        durationMs: Math.round(seconds * 1e5) / 100,
        callerId: context.get('callerId'),
      },
      'request',
    )
  }
}
