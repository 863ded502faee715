/** What the HTTP layer hands to a route's handler, and what it expects back. No HTTP library shows here. */

import type { RouteBody, RouteParams, RouteQuery, RouteResponse, routes } from '@dock/contract'
import type * as z from 'zod'
import type { Caller, Member, Visitor } from '../modules/accounts/index.ts'

export type Routes = typeof routes
export type RouteName = keyof Routes

/** Bytes answered as they are, without the envelope (`responseKind: 'raw'`). */
export type RawResponse = {
  body: Uint8Array | ReadableStream<Uint8Array>
  /** Sent as `Content-Type`, with `X-Content-Type-Options: nosniff`. */
  contentType: string
  contentLength?: number
  /** Which part of `size` bytes it is: answered 206, or 416 where `part` is null. */
  range?: { size: number; part: { start: number; end: number } | null }
}

type CallerOf<Access> = Access extends { credentials: 'public' }
  ? null
  : Access extends { scope: { organization: string } | { workspace: string } }
    ? Member
    : Access extends { role: string }
      ? Visitor
      : Caller

export type RouteRequest<K extends RouteName> = {
  /**
   * Null on routes that nobody signs in for; a proven member where the route names an organization or a workspace; a
   * visitor, whom the operation's own query lets in, where it names another thing of an organization's.
   */
  caller: CallerOf<Routes[K]['access']>
  params: RouteParams<Routes[K]>
  query: RouteQuery<Routes[K]>
  body: RouteBody<Routes[K]>
  /** Header `idempotency-key`, checked for 1 to 255 characters; undefined when not sent. */
  idempotencyKey: string | undefined
  /** Header `x-confirm-delete`, an id in lower case as all of them are. */
  confirmDelete: string | undefined
  /** Header `range` as sent, where the answer can be a part. */
  range: string | undefined
  requestId: string
  /** The peer's address; what rate limits of public routes count by. */
  clientAddress: string
}

/** The list under the key comes in batches. */
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

/** Handlers by route name. A route without one answers 501 `not_implemented`; WebSocket routes have none. */
export type Handlers = Partial<{ [K in RouteName]: Handler<K> }>
