/** Runs a route of the contract: checks credentials, parameters, query, body and scope, then calls the handler. */
import { type Route, ServiceError } from '@dock/contract'
import type { Context } from 'hono'
import type { RawBody, RawResponse } from '../routing/handler.ts'
import { type CheckScope, requireAdmitted } from './check-scope.ts'
import type { Credentials } from './credentials.ts'
import { type StreamedData, streamedListSuccess, streamedSuccess, success } from './envelope.ts'
import { anonymousBodyBytesMax, callerBodyBytesMax, readJsonBody } from './read-body.ts'
import type { HttpEnvironment } from './request-context.ts'
import { liftRequestTime } from './request-time.ts'
import {
  validateBody,
  validateIdempotencyKey,
  validateParams,
  validateQuery,
  validateRuntime,
} from './validate.ts'

/** A handler without its types. The request was validated against the contract that the handler is typed by. */
export type BoundHandler = (request: object) => Promise<unknown>

/** Checks before every handler: who the caller is, and what they may access. */
export type Gate = { credentials: Credentials; checkScope: CheckScope }

const rangeHeaders = (range: RawResponse['range']): Record<string, string> => {
  if (!range) return {}
  const part = range.part ? `${range.part.start}-${range.part.end - 1}` : '*'
  return { 'content-range': `bytes ${part}/${range.size}` }
}

const rangeStatus = (range: NonNullable<RawResponse['range']>): number => (range.part ? 206 : 416)

const rawResponse = (raw: RawResponse, status: number): Response =>
  new Response(raw.body as ConstructorParameters<typeof Response>[0], {
    status: raw.range ? rangeStatus(raw.range) : status,
    headers: {
      'content-type': raw.contentType,
      // The bytes come from inside Docks. A browser must not render them as a page of this origin.
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'accept-ranges': raw.contentLength === undefined ? 'none' : 'bytes',
      ...raw.headers,
      ...rangeHeaders(raw.range),
      ...(raw.contentLength === undefined ? {} : { 'content-length': String(raw.contentLength) }),
    },
  })

const responseOf = (route: Route, result: unknown, status: number): Response | Promise<Response> => {
  if (route.responseKind === 'raw') return rawResponse(result as RawResponse, status)
  if (route.streamedList) return streamedListSuccess(result as AsyncIterable<unknown[]>, status)
  if (route.streamedField) return streamedSuccess(result as StreamedData, route.streamedField, status)
  return success(result, status, route.noStore)
}

/** Ignores `Range` if `If-Range` is set: responses have no validator to compare it with (RFC 9110, section 13.1.5). */
const rangeOf = (headers: Headers): string | undefined =>
  headers.has('if-range') ? undefined : (headers.get('range') ?? undefined)

const wantsCancel = (headers: Headers): boolean =>
  headers.get('x-dock-cancel-on-disconnect')?.toLowerCase() === 'true'

/**
 * Converts a route's path to Hono's syntax. Hono treats a colon within a segment as a parameter, so such a last segment
 * becomes a pattern. A trailing `:path` matches slashes, plain or as `%2F`.
 */
export function honoPath(path: string): string {
  return path
    .replace(/\/:path$/, '/:path{.+}')
    .replace(/\/([a-z-]+:[a-z-]+)$/, (_, ending: string) => `/:action{${ending}}`)
}

/** Reads a short body while the caller is authenticated, to save time. Its errors are reported only after that. */
const readAhead = (request: Request, ofBytes: boolean): Promise<unknown> | undefined => {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced === 0 || announced > anonymousBodyBytesMax) return undefined
  const body = readJsonBody(request, anonymousBodyBytesMax, ofBytes)
  body.catch(() => undefined)
  return body
}

/** Returns the body as a stream that is never collected. Its time is not limited: the handler ends an idle one. */
const readRawBody = (context: Context<HttpEnvironment>): RawBody => {
  liftRequestTime(context.env?.incoming)
  return context.req.raw.body ?? new ReadableStream({ start: (controller) => controller.close() })
}

/** Handles one request of the route. Throws errors for the error mapping to turn into responses. */
export async function handleRoute(
  context: Context<HttpEnvironment>,
  route: Route,
  handler: BoundHandler | undefined,
  gate: Gate,
): Promise<Response> {
  if (!handler) throw new Error(`the route ${route.path} has no handler`)
  const request = context.req.raw
  const rawParams = context.req.param() as Record<string, string>
  const isRaw = route.requestKind === 'raw'
  const takesBody = !isRaw && (route.body !== undefined || route.method !== 'GET')
  const ofBytes = route.bodyOfBytes === true
  const ahead = takesBody ? readAhead(request, ofBytes) : undefined
  const known =
    route.access.credentials === 'public'
      ? null
      : await gate.credentials.check(request, route.access, rawParams)
  if (known) {
    context.set('callerId', known.userId)
    known.address = context.get('clientAddress')
  }
  const params = validateParams(route, rawParams)
  const query = validateQuery(route, new URL(request.url).search)
  const idempotencyKey = validateIdempotencyKey(route, request.headers)
  const runtime = validateRuntime(route, request.headers)
  const bytesMax = known ? callerBodyBytesMax : anonymousBodyBytesMax
  let body: unknown
  let refusedBody: ServiceError | undefined
  if (takesBody)
    try {
      body = validateBody(route, await (ahead ?? readJsonBody(request, bytesMax, ofBytes)))
    } catch (error) {
      const mayReplay = route.replaysAnyBody === true && idempotencyKey !== undefined
      if (!mayReplay || !(error instanceof ServiceError)) throw error
      refusedBody = error
    }
  const caller = known && (await gate.checkScope(route, known, { params, query, body }))
  const result = await handler({
    caller,
    params,
    query,
    body: isRaw ? readRawBody(context) : body,
    refusedBody,
    idempotencyKey,
    runtime,
    cancelled: wantsCancel(request.headers) ? request.signal : undefined,
    range: rangeOf(request.headers),
    lastEventId: request.headers.get('last-event-id') ?? undefined,
    accept: request.headers.get('accept') ?? undefined,
    contentType: request.headers.get('content-type') ?? undefined,
    isHead: request.method === 'HEAD',
    confirmDelete: request.headers.get('x-confirm-delete')?.toLowerCase(),
    requestId: context.get('requestId'),
    clientAddress: context.get('clientAddress'),
  })
  requireAdmitted(route, caller)
  return responseOf(route, result, route.status ?? 200)
}
