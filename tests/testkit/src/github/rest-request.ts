/** Requests to the REST API of the stand-in, and the parts of responses that all of it shares. */
import type { GithubGit } from './github-git.ts'
import type { GithubWebhooks } from './github-webhooks.ts'
import type { GithubWorld } from './github-world.ts'

export type RestRequest = {
  method: string
  /** Without `/api/v3`. */
  path: string
  query: URLSearchParams
  body: Record<string, unknown>
  bearer: string | undefined
  baseUrl: string
}
export type RestResponse = { status: number; body?: unknown; headers?: Record<string, string> }

export type Scope = { world: GithubWorld; git: GithubGit; webhooks: GithubWebhooks }

export const notFound: RestResponse = { status: 404, body: { message: 'Not Found' } }
export function refused(message: string, status = 422): RestResponse {
  return { status, body: { message } }
}

/** Returns one page of a list, with GitHub's link to the next. */
export function page<T>(
  request: RestRequest,
  items: readonly T[],
): { items: T[]; headers: Record<string, string> } {
  const size = Math.min(Number(request.query.get('per_page') ?? 30), 100)
  const number = Number(request.query.get('page') ?? 1)
  const next = new URL(`${request.baseUrl}${request.path}?${request.query}`)
  next.searchParams.set('page', String(number + 1))
  const hasNext = items.length > number * size
  return {
    items: items.slice((number - 1) * size, number * size),
    headers: hasNext ? { link: `<${next}>; rel="next"` } : {},
  }
}
