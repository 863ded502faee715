/**
 * The interface between the server and the handlers of routes: types only, so that modules need not import the server.
 * Independent of the HTTP library.
 */
import type {
  RouteBody,
  RouteParams,
  RouteQuery,
  RouteResponse,
  RuntimeName,
  routes,
  ServiceError,
} from '@dock/contract'
import type * as z from 'zod'
import type { Caller } from '../modules/accounts/caller.ts'
import type { Member } from '../modules/accounts/member.ts'
import type { Visitor } from '../modules/accounts/visitor.ts'

export type Routes = typeof routes
export type RouteName = keyof Routes

/** A response of raw bytes, without the JSON envelope (`responseKind: 'raw'`). */
export type RawResponse = {
  body: Uint8Array | ReadableStream<Uint8Array>
  /** Sent as `Content-Type`, with `X-Content-Type-Options: nosniff`. */
  contentType: string
  contentLength?: number
  /** The part of `size` bytes that the body holds. Sent with status 206, or with 416 if `part` is null. */
  range?: { size: number; part: { start: number; end: number } | null }
  /** Further headers: validators such as `etag`. */
  headers?: Readonly<Record<string, string>>
}

/** The bytes of a request whose route has `requestKind: 'raw'`. They fail if the client disconnects before the end. */
export type RawBody = ReadableStream<Uint8Array>

type CallerOf<Access> = Access extends { credentials: 'public' }
  ? null
  : Access extends { scope: { organization: string } | { workspace: string } }
    ? Member
    : Access extends { role: string }
      ? Visitor
      : Caller

export type RouteRequest<K extends RouteName> = {
  /**
   * Null on public routes. A member if the route names an organization or a workspace. A visitor if the route names
   * another resource of an organization: the operation admits the visitor when it loads the resource.
   */
  caller: CallerOf<Routes[K]['access']>
  params: RouteParams<Routes[K]>
  query: RouteQuery<Routes[K]>
  body: Routes[K] extends { requestKind: 'raw' } ? RawBody : RouteBody<Routes[K]>
  /** Why `body` is not valid. Set only if the route has `replaysAnyBody` and a key was sent; `body` is then undefined. */
  refusedBody: ServiceError | undefined
  /** Header `idempotency-key`, checked for 1 to 255 characters; undefined when not sent. */
  idempotencyKey: string | undefined
  /** Header `x-dock-runtime`; undefined if the host decides. */
  runtime: RuntimeName | undefined
  /** Aborted when the caller disconnects, if the header `x-dock-cancel-on-disconnect` is `true`. */
  cancelled: AbortSignal | undefined
  /** Header `x-confirm-delete`: an id, converted to lower case. */
  confirmDelete: string | undefined
  /** Header `range` as sent; undefined if the response must be complete. */
  range: string | undefined
  /** Header `last-event-id`: where a stream of server-sent events continues. */
  lastEventId: string | undefined
  /** Headers `accept` and `content-type` as sent. */
  accept: string | undefined
  contentType: string | undefined
  /** True for HEAD, to which only headers are sent. */
  isHead: boolean
  requestId: string
  /** The client's address. Rate limits of public routes count by it. */
  clientAddress: string
}

/** The response with the list in field `Key` as batches. */
type Streamed<Response, Key> = {
  [K in keyof Response]: K extends Key ? AsyncIterable<Response[K]> : Response[K]
}

type StreamedKey<K extends RouteName> = Routes[K] extends { streamedField: infer Key } ? Key : never

export type HandlerResult<K extends RouteName> = Routes[K] extends { responseKind: 'raw' }
  ? RawResponse
  : Routes[K] extends { streamedList: true; response: z.ZodType }
    ? AsyncIterable<z.input<Routes[K]['response']>>
    : [StreamedKey<K>] extends [never]
      ? RouteResponse<Routes[K]>
      : Streamed<RouteResponse<Routes[K]>, StreamedKey<K>>

export type Handler<K extends RouteName> = (request: RouteRequest<K>) => Promise<HandlerResult<K>>

/** Handlers by route name. Together the modules have one for every route of the contract. */
export type Handlers = Partial<{ [K in RouteName]: Handler<K> }>
