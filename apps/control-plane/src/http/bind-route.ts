/** One route of the contract as an HTTP handler: credentials, parameters, query, body, scope, operation. */
import { type Route, ServiceError } from '@dock/contract'
import type { Context } from 'hono'
import { type CheckScope, requireAdmitted } from './check-scope.ts'
import type { Credentials } from './credentials.ts'
import { type StreamedData, streamedListSuccess, streamedSuccess, success } from './envelope.ts'
import type { RawResponse } from './handler.ts'
import { callerBodyBytesMax, readJsonBody, strangerBodyBytesMax } from './read-body.ts'
import type { HttpEnvironment } from './request-context.ts'
import { validateBody, validateIdempotencyKey, validateParams, validateQuery } from './validate.ts'

/** A handler as the binding sees it: what it is given was validated against the same contract it is typed by. */
export type BoundHandler = (request: object) => Promise<unknown>

/** What stands before every operation: who calls, and whether they may. */
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
      // Bytes come from inside Docks: no browser may take them for a page of ours.
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'accept-ranges': 'bytes',
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

/** With `if-range` the caller wants a part only if nothing has changed, of which we give no proof. */
const rangeOf = (headers: Headers): string | undefined =>
  headers.has('if-range') ? undefined : (headers.get('range') ?? undefined)

/**
 * Hono reads a colon inside a segment as a parameter, so such an ending is bound as a pattern. A path at the end takes
 * slashes as they are, and as `%2F`.
 */
export function honoPath(path: string): string {
  return path
    .replace(/\/:path$/, '/:path{.+}')
    .replace(/\/([a-z-]+:[a-z-]+)$/, (_, ending: string) => `/:action{${ending}}`)
}

/** A short body is read while the caller is looked up, and looked at only afterwards. */
const readAhead = (request: Request): Promise<unknown> | undefined => {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced === 0 || announced > strangerBodyBytesMax) return undefined
  const body = readJsonBody(request, strangerBodyBytesMax)
  body.catch(() => undefined)
  return body
}

/** Answers one request of the route; throws what the error mapping turns into an answer. */
export async function answerRoute(
  context: Context<HttpEnvironment>,
  route: Route,
  handler: BoundHandler | undefined,
  gate: Gate,
): Promise<Response> {
  if (!handler) throw new ServiceError('not_implemented')
  const request = context.req.raw
  const rawParams = context.req.param() as Record<string, string>
  const takesBody = route.body !== undefined || route.method !== 'GET'
  const ahead = takesBody ? readAhead(request) : undefined
  const known =
    route.access.credentials === 'public'
      ? null
      : await gate.credentials.check(request, route.access, rawParams)
  if (known) context.set('callerId', known.userId)
  const params = validateParams(route, rawParams)
  const query = validateQuery(route, new URL(request.url).searchParams)
  const idempotencyKey = validateIdempotencyKey(route, request.headers)
  const bytesMax = known ? callerBodyBytesMax : strangerBodyBytesMax
  const body = takesBody ? validateBody(route, await (ahead ?? readJsonBody(request, bytesMax))) : undefined
  const caller = known && (await gate.checkScope(route, known, { params, query, body }))
  const result = await handler({
    caller,
    params,
    query,
    body,
    idempotencyKey,
    range: rangeOf(request.headers),
    confirmDelete: request.headers.get('x-confirm-delete')?.toLowerCase(),
    requestId: context.get('requestId'),
    clientAddress: context.get('clientAddress'),
  })
  requireAdmitted(route, caller)
  return responseOf(route, result, route.status ?? 200)
}
