/** Validates parameters, query, headers and body against the contract. Error messages name the field. */
import { limits, nameOfBytes, type Route, type RuntimeName, runtimeName, ServiceError } from '@dock/contract'
import type * as z from 'zod'
import { containsNul } from './read-body.ts'

const describe = (issue: z.core.$ZodIssue | undefined): string => {
  if (!issue) return 'Invalid request.'
  const at = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    return `${[...(at ? [at] : []), issue.keys[0]].join('.')}: unknown field`
  }
  // Zod reports a missing field as "received undefined".
  const message = issue.message.endsWith('received undefined') ? 'required' : issue.message
  return at ? `${at}: ${message}` : message
}

const parse = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ServiceError('validation_error', { message: describe(result.error.issues[0]) })
}

/** Validates path parameters. A malformed id throws the same error as an id that does not exist. */
export function validateParams(route: Route, raw: Record<string, string>): unknown {
  if (!route.params) return undefined
  const result = route.params.safeParse(raw)
  if (result.success && !Object.values(raw).some(containsNul)) return result.data
  const name = String(result.error?.issues[0]?.path[0] ?? '')
  const code = route.paramNotFound?.[name] ?? route.notFound
  if (code) throw new ServiceError(code)
  throw new ServiceError('validation_error', { message: describe(result.error?.issues[0]) })
}

/** Decodes one name or value of a query as `URLSearchParams` does, but keeps bytes that are not UTF-8. */
const decodeBytes = (text: string): string =>
  nameOfBytes(
    Buffer.from(
      text
        .replaceAll('+', ' ')
        .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      // A URL is ASCII, so each code unit is one byte now.
      'latin1',
    ),
  )

const pairsOfBytes = (search: string): [string, string][] =>
  search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [decodeBytes(name), decodeBytes(value.join('='))]
    })

/** Validates the query, given with its question mark. Each parameter may appear once. */
export function validateQuery(route: Route, search: string): unknown {
  if (!route.query) return undefined
  const raw: Record<string, string> = {}
  for (const [name, value] of route.queryOfBytes ? pairsOfBytes(search) : new URLSearchParams(search)) {
    if (Object.hasOwn(raw, name)) {
      throw new ServiceError('validation_error', { message: `${name}: given more than once` })
    }
    if (containsNul(value))
      throw new ServiceError('validation_error', { message: `${name}: contains the character NUL` })
    raw[name] = value
  }
  return parse(route.query, raw)
}

/** Validates the body against the route's schema. A route without a schema accepts only an empty object. */
export function validateBody(route: Route, body: unknown): unknown {
  if (route.body) return parse(route.body, body)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ServiceError('validation_error', { message: 'This route takes no body.' })
  }
  const [field] = Object.keys(body)
  if (field !== undefined) throw new ServiceError('validation_error', { message: `${field}: unknown field` })
  return undefined
}

/** Returns the idempotency key, if the route accepts one and the caller sent it. */
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

/** Returns the runtime that the caller asks for, if the route accepts one and the caller sent it. */
export function validateRuntime(route: Route, headers: Headers): RuntimeName | undefined {
  const value = route.headers?.includes('x-dock-runtime') ? headers.get('x-dock-runtime') : null
  if (value === null) return undefined
  const result = runtimeName.safeParse(value)
  if (result.success) return result.data
  throw new ServiceError('validation_error', {
    message: `x-dock-runtime: must be ${runtimeName.options.join(' or ')}, sent once`,
  })
}
