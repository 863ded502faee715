/** Sends requests to GitHub's REST API and checks what comes back. */
import * as z from 'zod'
import { GithubRefused, GithubUnavailable } from './github-errors.ts'

export type GithubRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Starts with a slash. */
  path: string
  query?: Readonly<Record<string, string | number>>
  body?: object
  /** An authorization header: `Bearer …`. */
  authorization?: string
}

/** `nextCursor` names the next page of a list that has cursors. */
export type GithubResponse = { status: number; body: unknown; nextCursor: string | null }

export type GithubApi = {
  /** Returns the response whatever its status below 500. Throws {@link GithubUnavailable}. */
  send(request: GithubRequest): Promise<GithubResponse>
  /** Returns the checked body of a success. Throws {@link GithubUnavailable} and {@link GithubRefused}. */
  read<Schema extends z.ZodType>(request: GithubRequest, schema: Schema): Promise<z.output<Schema>>
  /** Like `read`, but returns null for 404. */
  find<Schema extends z.ZodType>(request: GithubRequest, schema: Schema): Promise<z.output<Schema> | null>
}

const requestTimeoutMs = 10_000
const responseBytesMax = 8 * 1024 * 1024
const told = z.object({ message: z.string() })

const readBounded = async (response: Response): Promise<string> => {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > responseBytesMax) throw new Error(`the response exceeds ${responseBytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

/** GitHub reports a limit as 429, or as 403 with one of these headers. */
const isLimit = ({ status, headers }: Response): boolean =>
  status === 429 ||
  (status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')))

const retryAfterMs = (headers: Headers): number | null => {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : null
}

const nextCursor = (headers: Headers): string | null => {
  const next = /<([^>]*)>; *rel="next"/.exec(headers.get('link') ?? '')?.[1]
  return next !== undefined && URL.canParse(next) ? new URL(next).searchParams.get('cursor') : null
}

/** `base` is the URL of the API: `https://api.github.com`. */
export function createGithubApi(base: string): GithubApi {
  const send = async (request: GithubRequest): Promise<GithubResponse> => {
    const url = new URL(`${base}${request.path}`)
    for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, String(value))
    const what = `${request.method ?? 'GET'} ${request.path}`
    let response: Response
    let text: string
    try {
      response = await fetch(url, {
        method: request.method ?? 'GET',
        headers: {
          accept: 'application/vnd.github+json',
          'user-agent': 'dock',
          'x-github-api-version': '2022-11-28',
          ...(request.authorization ? { authorization: request.authorization } : {}),
          ...(request.body ? { 'content-type': 'application/json' } : {}),
        },
        ...(request.body ? { body: JSON.stringify(request.body) } : {}),
        redirect: 'error',
        signal: AbortSignal.timeout(requestTimeoutMs),
      })
      text = await readBounded(response)
    } catch (error) {
      throw new GithubUnavailable(`${what}: no response from GitHub`, { cause: error })
    }
    if (response.status >= 500 || isLimit(response))
      throw new GithubUnavailable(`${what}: GitHub responded with status ${response.status}`, {
        retryAfterMs: retryAfterMs(response.headers),
      })
    return { status: response.status, body: parse(text), nextCursor: nextCursor(response.headers) }
  }

  const check = <Schema extends z.ZodType>(
    { method, path }: GithubRequest,
    { status, body }: GithubResponse,
    schema: Schema,
  ): z.output<Schema> => {
    const what = `${method ?? 'GET'} ${path}`
    if (status < 200 || status > 299)
      throw new GithubRefused(
        `${what}: GitHub refused with status ${status}: ${(told.safeParse(body).data?.message ?? '').slice(0, 300)}`,
        status,
      )
    const result = schema.safeParse(body)
    if (result.success) return result.data
    throw new GithubUnavailable(`${what}: the response from GitHub lacks ${result.error.issues[0]?.path}`)
  }

  return {
    send,
    read: async (request, schema) => check(request, await send(request), schema),
    find: async (request, schema) => {
      const response = await send(request)
      return response.status === 404 ? null : check(request, response, schema)
    },
  }
}

/** Returns the URL of the REST API of a GitHub server. */
export function apiUrlOf(githubUrl: string): string {
  return githubUrl === 'https://github.com' ? 'https://api.github.com' : `${githubUrl}/api/v3`
}
