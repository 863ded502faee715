/** The description of a route. Validation, types, OpenAPI and clients are all derived from it. */
import type * as z from 'zod'
import type { Access } from './access.ts'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `json` responds with `{ok, data}`, `raw` with bytes and no envelope, `websocket` upgrades the connection. */
export type ResponseKind = 'json' | 'raw' | 'websocket'

export type Route = {
  method: Method
  /** The path as in the specification; parameters are written `:name`. */
  path: string
  /** One line without a full stop. */
  summary: string
  /** A few sentences for the reference: what a caller should know before the first call. */
  description: string
  /** True for routes that the specification does not have. */
  extension?: true
  tag: string
  access: Access
  /** HTTP status of success; 200 when omitted. */
  status?: 200 | 201 | 202
  params?: z.ZodObject
  query?: z.ZodObject
  /** Bytes of the query that are not UTF-8 are kept (see byte-name.ts) instead of replaced. */
  queryOfBytes?: true
  /** Texts of the body may stand for bytes that are not UTF-8 (see byte-name.ts). Elsewhere a lone surrogate is refused. */
  bodyOfBytes?: true
  /** A repeated `idempotency-key` gets the first result whatever the body, so also with a body that `body` refuses. */
  replaysAnyBody?: true
  body?: z.ZodType
  /** `raw`: the handler reads the body as a stream of any length. Such a route has no `body`. */
  requestKind?: 'raw'
  /** Content types of a raw body, for the OpenAPI document. Every type is accepted. */
  requestTypes?: readonly string[]
  /** Headers that the route reads, apart from credentials. */
  headers?: readonly (
    | 'idempotency-key'
    | 'x-confirm-delete'
    | 'x-dock-cancel-on-disconnect'
    | 'x-dock-runtime'
  )[]
  response: z.ZodType
  responseKind?: ResponseKind
  /** Content types of a raw response, for the OpenAPI document; `application/octet-stream` when omitted. */
  responseTypes?: readonly string[]
  /** What each line of a response of type application/x-ndjson is. */
  lineSchema?: z.ZodType
  /** The response field whose list may be too long for memory. It is written item by item. */
  streamedField?: string
  /** The response is a list that may be too long to build in one turn of the event loop. It is written page by page. */
  streamedList?: true
  /** Error codes of this route, apart from the generic ones. */
  errors: readonly ErrorCode[]
  /** The code for a malformed id in the path (always 404): the same code as for a missing resource. */
  notFound?: ErrorCode
  /** For paths with several parameters: the code for each malformed parameter. Takes precedence over `notFound`. */
  paramNotFound?: Readonly<Record<string, ErrorCode>>
  /** Sent with `Cache-Control: no-store`. */
  noStore?: true
}

/** Declares a route and keeps its literal types. */
export function route<const R extends Route>(definition: R): R {
  return definition
}

type Out<S> = S extends z.ZodType ? z.output<S> : undefined
export type RouteParams<R extends Route> = Out<R['params']>
export type RouteQuery<R extends Route> = Out<R['query']>
export type RouteBody<R extends Route> = Out<R['body']>
/** The type that a handler returns. Handlers convert dates to ISO strings themselves. */
export type RouteResponse<R extends Route> = z.input<R['response']>
