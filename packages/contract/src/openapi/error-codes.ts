/** The error codes of each route. */
import { accessTerms } from '../access.ts'
import { type ErrorCode, errorCodes } from '../errors.ts'
import type { Route } from '../route.ts'

/** Codes that the middleware in front of every handler can return, so routes do not list them. */
const genericCodes = (route: Route): ErrorCode[] => {
  const { credentials } = route.access
  return [
    // A non-GET route without a body refuses requests that send one.
    ...(route.method !== 'GET' || route.params || route.query ? (['validation_error'] as const) : []),
    ...(credentials === 'public'
      ? []
      : (['unauthorized', 'account_closed', 'dock_key_forbidden', 'email_verification_required'] as const)),
    ...(accessTerms(route.access) ? (['forbidden'] as const) : []),
    ...(credentials.endsWith('session') ? (['session_required'] as const) : []),
    'not_found',
    'rate_limited',
    'internal_error',
    'service_unavailable',
  ]
}

/** Returns every code that a route can return, by HTTP status. */
export function errorCodesByStatus(route: Route): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>()
  const add = (status: number, code: ErrorCode) =>
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  const malformed = Object.values(route.paramNotFound ?? {})
  const codes = new Set([
    ...route.errors,
    ...(route.notFound ? [route.notFound] : []),
    ...malformed,
    ...genericCodes(route),
  ])
  for (const code of codes) add(errorCodes[code].status, code)
  // account_closed has status 410 once the account is erased.
  if (codes.has('account_closed')) add(410, 'account_closed')
  return byStatus
}
