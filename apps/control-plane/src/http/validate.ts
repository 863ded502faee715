/** Parameters, query, headers and body against the contract; the message names the field. */
import { limits, type Route, ServiceError } from '@dock/contract'
import type * as z from 'zod'
import { holdsNul } from './read-body.ts'

const describe = (issue: z.core.$ZodIssue | undefined): string => {
  if (!issue) return 'Invalid request.'
  const at = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    return `${[...(at ? [at] : []), issue.keys[0]].join('.')}: unknown field`
  }
  // Of a field that is not there.
  const message = issue.message.endsWith('received undefined') ? 'required' : issue.message
  return at ? `${at}: ${message}` : message
}

const parse = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ServiceError('validation_error', { message: describe(result.error.issues[0]) })
}

/** Path parameters. A malformed one answers as an absent thing does. */
export function validateParams(route: Route, raw: Record<string, string>): unknown {
  if (!route.params) return undefined
  const result = route.params.safeParse(raw)
  if (result.success && !Object.values(raw).some(holdsNul)) return result.data
  const name = String(result.error?.issues[0]?.path[0] ?? '')
  const code = route.paramNotFound?.[name] ?? route.notFound
  if (code) throw new ServiceError(code)
  throw new ServiceError('validation_error', { message: describe(result.error?.issues[0]) })
}

/** Query parameters; each may stand once. */
export function validateQuery(route: Route, search: URLSearchParams): unknown {
  if (!route.query) return undefined
  const raw: Record<string, string> = {}
  for (const [name, value] of search) {
    if (Object.hasOwn(raw, name)) {
      throw new ServiceError('validation_error', { message: `${name}: given more than once` })
    }
    if (holdsNul(value))
      throw new ServiceError('validation_error', { message: `${name}: holds the character NUL` })
    raw[name] = value
  }
  return parse(route.query, raw)
}

/** Body against its schema; a route without one takes no fields. */
export function validateBody(route: Route, body: unknown): unknown {
  if (route.body) return parse(route.body, body)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ServiceError('validation_error', { message: 'This route takes no body.' })
  }
  const [field] = Object.keys(body)
  if (field !== undefined) throw new ServiceError('validation_error', { message: `${field}: unknown field` })
  return undefined
}

/** The idempotency key where the route reads one. */
export function validateIdempotencyKey(route: Route, headers: Headers): string | undefined {
  if (!route.headers?.includes('idempotency-key')) return undefined
  const key = headers.get('idempotency-key') ?? undefined
  const { min, max } = limits.idempotencyKeyLength
  if (key !== undefined && (key.length < min || key.length > max)) {
    throw new ServiceError('validation_error', {
      message: `idempotency-key: must be ${min} to ${max} characters`,
    })
  }
  return key
}
