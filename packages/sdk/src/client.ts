/** A typed client of every route of the service. */
import { encodeNameForUrl } from '@dock/contract/byte-name'
import type { CallArguments, CallOptions, CallResult, RouteName } from './call-types.ts'
import { ConnectionError, DockError } from './dock-error.ts'
import { routeTable } from './generated/route-table.ts'
import { pause } from './pause.ts'
import type { RawBody } from './request-options.ts'
import { dataOf, errorOfResponse } from './response-error.ts'
import { type RetryOptions, retryPlan } from './retry.ts'

export type ClientOptions = {
  /** The service's address without `/v1`. Default: `DOCK_URL`, in a browser the page's own address. */
  baseUrl?: string | undefined
  /** Sent as a bearer token. Default: `DOCK_API_KEY`. In a browser the session's cookie authenticates the caller. */
  apiKey?: string | undefined
  fetch?: typeof fetch | undefined
  /** Routes that the package does not know by itself, as method and path by name. */
  routes?: Readonly<Record<string, string>> | undefined
} & { [Name in keyof RetryOptions]?: RetryOptions[Name] | undefined }

export type Client = {
  readonly baseUrl: string
  /**
   * Calls a route by name. Throws a `DockApiError` for every response that is not a success, and a `ConnectionError` if
   * there is none. Responses are not validated, because a newer server may add fields.
   *
   * Requests that may be repeated are: those of GET and PUT, those with an idempotency key (the client makes one where
   * the route takes one), and those that the service refused for want of a slot. A body that is a stream is sent once.
   */
  call<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<CallResult<N>>
  /** Returns the address of a route, for links and for programs that send the request themselves. */
  urlOf<N extends RouteName>(name: N, place: Omit<CallOptions<N>, 'body' | 'headers' | 'signal'>): string
  /** Like `call`, but returns the response, whose body can be read as a stream. */
  open<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<Response>
}

type Values = Readonly<Record<string, unknown>>
type Given = { params?: Values; query?: Values; body?: unknown; headers?: Values; signal?: AbortSignal }

/** Returns a variable of the environment, in runtimes that have one. */
const variable = (name: string): string | undefined => {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  try {
    return process?.env?.[name] || undefined
  } catch {
    // Deno throws if the permission is missing.
    return undefined
  }
}

const defaultBaseUrl = (): string => {
  const { location } = globalThis as { location?: { origin?: string } }
  const address = variable('DOCK_URL') ?? location?.origin
  if (address === undefined || address === 'null')
    throw new TypeError('Give baseUrl, or set DOCK_URL to the address of your Dock service.')
  return address
}

const addressOf = (baseUrl: string, path: string, params: Values, query: Values): string => {
  const filled = path.replaceAll(/(?<=\/):([A-Za-z]+)/g, (_, name: string) => {
    const text = String(params[name])
    // A parser of URLs would take these for steps between folders, also percent-encoded.
    if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} must not be '${text}'.`)
    return encodeURIComponent(text)
  })
  const search = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeNameForUrl(String(value))}`)
    .join('&')
  return `${baseUrl}${filled}${search === '' ? '' : `?${search}`}`
}

const isAbort = (error: unknown, signal?: AbortSignal): boolean =>
  signal?.aborted === true || (error instanceof Error && error.name === 'AbortError')

/** Creates a client of the service at `baseUrl`. */
export function createClient(options: ClientOptions = {}): Client {
  // Browsers refuse a `fetch` that is called as a method of another object.
  const send: typeof fetch = options.fetch ?? ((...request) => fetch(...request))
  const baseUrl = (options.baseUrl ?? defaultBaseUrl()).replace(/\/+$/, '')
  if (!URL.canParse(baseUrl)) throw new TypeError(`${baseUrl} is not the address of a service.`)
  const apiKey = options.apiKey ?? variable('DOCK_API_KEY')
  const { retries = 4, retryAfterSecondsMax = 30 } = options

  const routes: Readonly<Record<string, string>> = { ...routeTable, ...options.routes }
  const partsOf = (name: RouteName): string[] => {
    const parts = routes[name]?.split(' ')
    if (!parts) throw new TypeError(`This client has no route ${name}.`)
    return parts
  }

  const urlOf = (name: RouteName, { params = {}, query = {} }: Given): string =>
    addressOf(baseUrl, partsOf(name)[1]!, params, query)

  const request = async <T>(
    name: RouteName,
    given: Given,
    read: (response: Response) => Promise<T>,
  ): Promise<T> => {
    const [method, , flags = ''] = partsOf(name) as [string, string, string?]
    if (flags.includes('w'))
      throw new TypeError(`${name} is a WebSocket route. Open it with a WebSocket client.`)
    // Header names are not case-sensitive; Headers compares them so.
    const headers = new Headers(given.headers as Record<string, string> | undefined)
    if (apiKey !== undefined && !headers.has('authorization'))
      headers.set('authorization', `Bearer ${apiKey}`)
    const takesKey = flags.includes('i')
    // Without retries no request is repeated, and the service need not remember its result.
    const isOwnKey = takesKey && retries > 0 && !headers.has('idempotency-key')
    if (isOwnKey) headers.set('idempotency-key', crypto.randomUUID())
    const isRaw = flags.includes('b')
    if (given.body !== undefined && !headers.has('content-type'))
      headers.set('content-type', isRaw ? 'application/octet-stream' : 'application/json')
    const body = isRaw ? (given.body as RawBody) : JSON.stringify(given.body)
    const isStream = body instanceof ReadableStream
    const isSafe =
      !isStream &&
      (method === 'GET' || method === 'PUT' || takesKey) &&
      // The command ended with the connection, so its result is not what was asked for.
      !headers.has('x-dock-cancel-on-disconnect')
    const address = urlOf(name, given)
    const plan = retryPlan({ retries: isStream ? 0 : retries, retryAfterSecondsMax }, { isSafe, isOwnKey })
    const { signal } = given
    const attempt = async (): Promise<T> => {
      try {
        return await read(
          await send(address, {
            method,
            headers,
            ...(given.body === undefined ? {} : { body }),
            ...(isStream ? { duplex: 'half' } : {}),
            ...(signal ? { signal } : {}),
          }),
        )
      } catch (error) {
        if (isAbort(error, signal) || error instanceof DockError) throw error
        // Runtimes report a broken connection as a TypeError, Error or DOMException.
        throw new ConnectionError(`${baseUrl} cannot be reached, or the connection broke.`, error)
      }
    }
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        const wait = isAbort(error, signal) ? null : plan(error)
        if (wait === null) throw error
        await pause(wait, signal)
      }
    }
  }

  return {
    baseUrl,
    urlOf: (name, place) => urlOf(name, place as Given),
    call<N extends RouteName>(name: N, ...args: CallArguments<N>): Promise<CallResult<N>> {
      const isRaw = partsOf(name)[2]?.includes('r')
      return request(name, (args[0] ?? {}) as Given, async (response) =>
        isRaw && response.ok ? new Uint8Array(await response.arrayBuffer()) : dataOf(response),
      ) as Promise<CallResult<N>>
    },
    open: (name, ...args) =>
      request(name, (args[0] ?? {}) as Given, async (response) => {
        if (response.ok) return response
        throw errorOfResponse(response, await response.json().catch(() => undefined))
      }),
  }
}
