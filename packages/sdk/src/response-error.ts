/** Turns unsuccessful responses into errors. */
import { apiError, type DockApiError } from './dock-error.ts'

type Envelope = { ok?: unknown; data?: unknown; code?: unknown; message?: unknown }

const isEnvelope = (value: unknown): value is Envelope => typeof value === 'object' && value !== null

/** Returns the seconds of `Retry-After`, which is a number or a date. */
const retryAfterOf = (headers: Headers): number | null => {
  const text = headers.get('retry-after')
  if (text === null) return null
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** Returns the error that an unsuccessful response stands for. `body` is its parsed JSON, if it was JSON. */
export function errorOfResponse({ status, headers }: Response, body: unknown): DockApiError {
  const details = { retryAfter: retryAfterOf(headers), requestId: headers.get('x-request-id') }
  return isEnvelope(body) && typeof body.code === 'string' && typeof body.message === 'string'
    ? apiError(status, body.code, body.message, details)
    : apiError(
        status,
        'bad_response',
        `The response (HTTP ${status}) is not from the Dock API. Check baseUrl.`,
        details,
      )
}

/** Returns the `data` of a successful response. Throws the error that another response stands for. */
export async function dataOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch((error: unknown) => {
    // Not JSON is a bad response; anything else is a connection that broke.
    if (error instanceof SyntaxError) return undefined
    throw error
  })
  if (!response.ok || !isEnvelope(body) || body.ok !== true) throw errorOfResponse(response, body)
  return body.data
}
