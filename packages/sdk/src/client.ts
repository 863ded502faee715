/** A typed client of the service, derived from the contract. */
import { encodeNameForUrl, type Route, type RouteName, type Routes, routes } from '@dock/contract'
import { DockApiError } from './dock-api-error.ts'

export type ClientOptions = {
  /** The service's address without `/v1`. */
  baseUrl: string
  /** Sent as a bearer token. Without it, the browser's session cookie authenticates the caller. */
  apiKey?: string
  fetch?: typeof fetch
}

type Schema = { _zod: { input: unknown; output: unknown } }
type Input<S> = S extends Schema ? S['_zod']['input'] : never
type Output<S> = S extends Schema ? S['_zod']['output'] : never
/** A query parameter is given as text or as its parsed value. */
type QueryInput<S> = {
  [K in keyof Input<S>]: Input<S>[K] | (K extends keyof Output<S> ? Output<S>[K] : never)
}
type Part<R, K extends string, V> = R extends { [P in K]: Schema }
  ? Record<never, never> extends V
    ? { [P in K]?: V }
    : { [P in K]: V }
  : { [P in K]?: never }

/** Bytes to send; a stream is sent as it is read. */
type RawBody = Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> | string

export type CallOptions<N extends RouteName> = Part<Routes[N], 'params', Input<ParamsOf<Routes[N]>>> &
  Part<Routes[N], 'query', QueryInput<QueryOf<Routes[N]>>> &
  (Routes[N] extends { requestKind: 'raw' }
    ? { body: RawBody }
    : Part<Routes[N], 'body', Input<BodyOf<Routes[N]>>>) & {
    headers?: Readonly<Record<string, string>>
    signal?: AbortSignal
  }
type ParamsOf<R> = R extends { params: infer S } ? S : never
type QueryOf<R> = R extends { query: infer S } ? S : never
type BodyOf<R> = R extends { body: infer S } ? S : never

/** The `data` of the response; bytes for a raw route. */
export type CallResult<N extends RouteName> = Routes[N] extends { responseKind: 'raw' }
  ? Uint8Array
  : Output<Routes[N]['response']>

/** The options may be omitted if the route needs none. */
type CallArguments<N extends RouteName> =
  Record<never, never> extends CallOptions<N> ? [options?: CallOptions<N>] : [options: CallOptions<N>]

export type Client = {
  /**
   * Calls a route by name. Throws {@link DockApiError} for every response that is not a success. Network errors are
   * those of `fetch`. Responses are not validated, because a newer server may add fields.
   */
  call<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<CallResult<N>>
}

type Values = Readonly<Record<string, unknown>>

const addressOf = (baseUrl: string, route: Route, params: Values, query: Values): string => {
  const path = route.path.replaceAll(/(?<=\/):([A-Za-z]+)/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeNameForUrl(String(value))}`)
    .join('&')
  return `${baseUrl.replace(/\/+$/, '')}${path}${search === '' ? '' : `?${search}`}`
}

type Envelope = { ok?: unknown; data?: unknown; code?: unknown; message?: unknown }

const isEnvelope = (value: unknown): value is Envelope => typeof value === 'object' && value !== null

const errorOf = (status: number, answer: unknown): DockApiError =>
  isEnvelope(answer) && typeof answer.code === 'string' && typeof answer.message === 'string'
    ? new DockApiError(answer.code, status, answer.message)
    : new DockApiError(
        'bad_response',
        status,
        `The response (HTTP ${status}) is not from the Dock API. Check baseUrl.`,
      )

/** Creates a client of the service at `baseUrl`. */
export function createClient(options: ClientOptions): Client {
  const send = options.fetch ?? fetch
  return {
    async call<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<CallResult<N>> {
      const given: {
        params?: Values
        query?: Values
        body?: unknown
        headers?: Values
        signal?: AbortSignal
      } = args[0] ?? {}
      const route: Route = routes[name]
      if (route.responseKind === 'websocket')
        throw new TypeError(`${name} is a WebSocket route. Open it with a WebSocket client.`)
      const headers = new Headers(given.headers as Record<string, string> | undefined)
      if (options.apiKey !== undefined) headers.set('authorization', `Bearer ${options.apiKey}`)
      const isRaw = route.requestKind === 'raw'
      if (given.body !== undefined && !isRaw) headers.set('content-type', 'application/json')
      else if (isRaw && !headers.has('content-type')) headers.set('content-type', 'application/octet-stream')
      const body = isRaw ? (given.body as RawBody) : JSON.stringify(given.body)
      const response = await send(addressOf(options.baseUrl, route, given.params ?? {}, given.query ?? {}), {
        method: route.method,
        headers,
        ...(given.body === undefined ? {} : { body }),
        ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
        ...(given.signal ? { signal: given.signal } : {}),
      })
      if (route.responseKind === 'raw' && response.ok)
        return new Uint8Array(await response.arrayBuffer()) as CallResult<N>
      const answer: unknown = await response.json().catch(() => undefined)
      if (!response.ok || !isEnvelope(answer) || answer.ok !== true) throw errorOf(response.status, answer)
      return answer.data as CallResult<N>
    },
  }
}
