/** What is known of a request from its first moment: its id, its peer; and what is logged and measured at its end. */

import type { Logger } from '@dock/foundation'
import { newUuid } from '@dock/foundation'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'
import type { ClientAddress } from '../client-address.ts'
import type { Metrics } from './metrics.ts'

export type RequestVariables = {
  requestId: string
  clientAddress: string
  /** Pattern of the contract; `unknown` until a route has matched. */
  route: string
  callerId: string | undefined
}

export type HttpEnvironment = { Variables: RequestVariables; Bindings: Partial<HttpBindings> }

export type RequestObservation = {
  logger: Logger
  metrics: Metrics
  clientAddress: ClientAddress
  /** Adds what every answer says to browsers. */
  secureHeaders(headers: Headers): void
}

/** Logs carry the pattern and never the path or query, which may hold tickets and tokens. */
export function observeRequests(options: RequestObservation): MiddlewareHandler<HttpEnvironment> {
  const { metrics, clientAddress, secureHeaders } = options
  // Its line holds the fields below and no others: nothing to look for and blank out in every one.
  const logger = options.logger.child({}, { redact: [] })
  return async (context, next) => {
    const startedAt = performance.now()
    const requestId = newUuid()
    context.set('requestId', requestId)
    const peer = context.env?.incoming?.socket.remoteAddress
    context.set('clientAddress', clientAddress(peer, context.req.raw.headers.get('x-forwarded-for')))
    context.set('route', 'unknown')
    await next()
    context.res.headers.set('x-request-id', requestId)
    secureHeaders(context.res.headers)
    const seconds = (performance.now() - startedAt) / 1000
    const { method } = context.req
    const { status } = context.res
    const route = context.get('route')
    metrics.observeRequest({ method, route, status, seconds })
    // What asks whether Dock lives asks for ever, and anybody may.
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
