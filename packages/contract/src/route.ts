/** How a route of the service is described: once, for validation, types, OpenAPI and clients alike. */
import type * as z from 'zod'
import type { Access } from './access.ts'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `raw` answers bytes without the envelope, `websocket` upgrades; all else is `{ok, data}`. */
export type ResponseKind = 'json' | 'raw' | 'websocket'

export type Route = {
  method: Method
  /** As in the specification, parameters written `:name`. */
  path: string
  summary: string
  tag: string
  access: Access
  /** HTTP status of success; 200 when omitted. */
  status?: 200 | 201 | 202
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** Headers beyond credentials that the route reads. */
  headers?: readonly ('idempotency-key' | 'x-confirm-delete')[]
  response: z.ZodType
  responseKind?: ResponseKind
  /** The field of the answer whose list may be longer than memory should hold: it is written as it comes. */
  streamedField?: string
  /** The answer is a list that may be longer than one turn of the event loop should build: it is written page by page. */
  streamedList?: true
  /** Codes beyond the generic ones that this route can answer. */
  errors: readonly ErrorCode[]
  /** The code a malformed id in the path answers (always 404): the same as for an absent thing. */
  notFound?: ErrorCode
  /** Where a path has several parameters: the code of a malformed one, ahead of `notFound`. */
  paramNotFound?: Readonly<Record<string, ErrorCode>>
  /** Sent with `Cache-Control: no-store`. */
  noStore?: true
}

/** Declares a route, keeping its literal types. */
export function route<const R extends Route>(definition: R): R {
  return definition
}

type Out<S> = S extends z.ZodType ? z.output<S> : undefined
export type RouteParams<R extends Route> = Out<R['params']>
export type RouteQuery<R extends Route> = Out<R['query']>
export type RouteBody<R extends Route> = Out<R['body']>
/** What a handler gives: before serialisation, so dates are already ISO strings. */
export type RouteResponse<R extends Route> = z.input<R['response']>
