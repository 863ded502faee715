/** A typed client of the service, made from the contract: one function for every route. */
import { type Route, type RouteName, type Routes, routes } from '@dock/contract'
import { DockApiError } from './dock-api-error.ts'

export type ClientOptions = {
  /** The service's address, without `/v1`. */
  baseUrl: string
  /** Sent as bearer; without it the browser's session cookie counts. */
  apiKey?: string
  fetch?: typeof fetch
}

type Schema = { _zod: { input: unknown; output: unknown } }
type Input<S> = S extends Schema ? S['_zod']['input'] : never
type Output<S> = S extends Schema ? S['_zod']['output'] : never
/** A query is given as text or as the value that it stands for. */
type QueryInput<S> = {
  [K in keyof Input<S>]: Input<S>[K] | (K extends keyof Output<S> ? Output<S>[K] : never)
}
type Part<R, K extends string, V> = R extends { [P in K]: Schema }
  ? Record<never, never> extends V
    ? { [P in K]?: V }
    : { [P in K]: V }
  : { [P in K]?: never }

export type CallOptions<N extends RouteName> = Part<Routes[N], 'params', Input<ParamsOf<Routes[N]>>> &
  Part<Routes[N], 'query', QueryInput<QueryOf<Routes[N]>>> &
  Part<Routes[N], 'body', Input<BodyOf<Routes[N]>>> & {
    headers?: Readonly<Record<string, string>>
    signal?: AbortSignal
  }
type ParamsOf<R> = R extends { params: infer S } ? S : never
type QueryOf<R> = R extends { query: infer S } ? S : never
type BodyOf<R> = R extends { body: infer S } ? S : never

/** The `data` of the answer; bytes for a raw route. */
export type CallResult<N extends RouteName> = Routes[N] extends { responseKind: 'raw' }
  ? Uint8Array
  : Output<Routes[N]['response']>

/** The options may be left out where the route needs none. */
type CallArguments<N extends RouteName> =
  Record<never, never> extends CallOptions<N> ? [options?: CallOptions<N>] : [options: CallOptions<N>]

export type Client = {
  /**
   * Calls a route by its name. Throws {@link DockApiError} for every answer that is no success; a failure of the
   * network passes through as `fetch` throws it. Answers are not validated: fields may be added to them.
   */
  call<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<CallResult<N>>
}

type Values = Readonly<Record<string, unknown>>

const addressOf = (baseUrl: string, route: Route, params: Values, query: Values): string => {
  const path = route.path.replaceAll(/(?<=\/):([A-Za-z]+)/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return `${baseUrl.replace(/\/+$/, '')}${path}${search.size > 0 ? `?${search}` : ''}`
}

type Envelope = { ok?: unknown; data?: unknown; code?: unknown; message?: unknown }

const isEnvelope = (value: unknown): value is Envelope => typeof value === 'object' && value !== null

const errorOf = (status: number, answer: unknown): DockApiError =>
  isEnvelope(answer) && typeof answer.code === 'string' && typeof answer.message === 'string'
    ? new DockApiError(answer.code, status, answer.message)
    : new DockApiError('bad_response', status, `The answer (HTTP ${status}) is not one of the service.`)

/** A client of the service at `baseUrl`. */
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
      if (route.responseKind === 'websocket') throw new TypeError(`${name} is a WebSocket, not a call`)
      const headers = new Headers(given.headers as Record<string, string> | undefined)
      if (options.apiKey !== undefined) headers.set('authorization', `Bearer ${options.apiKey}`)
      if (given.body !== undefined) headers.set('content-type', 'application/json')
      const response = await send(addressOf(options.baseUrl, route, given.params ?? {}, given.query ?? {}), {
        method: route.method,
        headers,
        ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
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
