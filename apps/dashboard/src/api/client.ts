/** Calls of the service with the session's cookie. */
import { ConnectionError, createClient, DockApiError } from '@dock/sdk'
import { dashboardRouteTable } from '@dock/sdk/dashboard-routes'

/** The typed client of all routes. */
export const api = createClient({ baseUrl: location.origin, routes: dashboardRouteTable, retries: 2 })

/** True if the caller is not signed in, or no longer. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof DockApiError && error.code === 'unauthorized'
}

/** True if the caller's account is closed, and can be reopened. */
export function isClosed(error: unknown): boolean {
  return error instanceof DockApiError && error.code === 'account_closed'
}

/** Returns the service's sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the id of the refused request, by which the operator finds it in the log. */
export function requestIdOf(error: unknown): string | null {
  return error instanceof DockApiError || error instanceof SignInError ? error.requestId : null
}

/**
 * Does the work once more if its connection broke. Browsers drop their connections whenever an address of the machine
 * changes, which on a host of Docks is often. Only for work that may be done twice.
 */
export async function repeatIfBroken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConnectionError || error instanceof TypeError) return work()
    throw error
  }
}

/** A refusal of the sign-in library, whose errors have a form of their own. */
export class SignInError extends Error {
  readonly code: string
  readonly requestId: string | null
  constructor(code: string, message: string, requestId: string | null) {
    super(message)
    this.code = code
    this.requestId = requestId
  }
}

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)

const readAnswer = async <T>(response: Response): Promise<T> => {
  const result = (await response.json().catch(() => ({}))) as Record<string, unknown>
  if (response.ok) return result as T
  throw new SignInError(
    textOr(result.code, 'bad_response'),
    textOr(result.message, 'The service did not take this.'),
    response.headers.get('x-request-id'),
  )
}

/** Reads from the sign-in library. Throws a SignInError. */
export async function readAuth<T>(path: string, signal?: AbortSignal): Promise<T> {
  return readAnswer<T>(await fetch(`/api/auth${path}`, signal ? { signal } : {}))
}

/** Sends to the sign-in library. Throws a SignInError, or a ConnectionError. */
export async function authenticate(
  path: string,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const send = (): Promise<Response> =>
    fetch(`/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  // An account cannot be made twice.
  const sent = path.startsWith('/sign-up') ? send() : repeatIfBroken(send)
  return readAnswer(
    await sent.catch((error: unknown) => {
      throw new ConnectionError('The connection to the service broke. Try again.', error)
    }),
  )
}
