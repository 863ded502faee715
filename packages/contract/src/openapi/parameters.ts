/** The parameters, request body and credentials of each operation. */
import type * as z from 'zod'
import type { Route } from '../route.ts'
import type { Json, JsonSchemas } from './json-schemas.ts'

const parametersIn = (
  place: 'path' | 'query',
  schema: z.ZodObject | undefined,
  schemas: JsonSchemas,
): Json[] => {
  if (!schema) return []
  const json = schemas.use(schema) as { properties?: Record<string, Json>; required?: string[] }
  return Object.entries(json.properties ?? {}).map(([name, { description, ...value }]) => ({
    name,
    in: place,
    required: place === 'path' || (json.required ?? []).includes(name),
    ...(description === undefined ? {} : { description }),
    schema: value,
  }))
}

const headerDescriptions = {
  'idempotency-key':
    'A text that the caller chooses. A request that is repeated with the same key runs once, and every repetition gets the first response.',
  'x-confirm-delete': 'The id in the path, once more, to confirm that it should be deleted.',
  'x-dock-cancel-on-disconnect':
    'With `true`, the command is ended with everything it started as soon as the caller disconnects.',
} as const

const headerParameters = (route: Route, idempotencyKey: Json): Json[] =>
  (route.headers ?? []).map((name) => ({
    name,
    in: 'header',
    required: name === 'x-confirm-delete',
    description: headerDescriptions[name],
    schema: {
      'idempotency-key': idempotencyKey,
      'x-confirm-delete': { type: 'string' },
      'x-dock-cancel-on-disconnect': { type: 'string', enum: ['true', 'false'] },
    }[name],
    ...(name === 'x-dock-cancel-on-disconnect' ? { 'x-dock-extension': true } : {}),
  }))

/** Returns the parameters of a route in its path, query and headers. */
export function parametersOf(route: Route, schemas: JsonSchemas, idempotencyKey: Json): Json[] {
  return [
    ...parametersIn('path', route.params, schemas),
    ...parametersIn('query', route.query, schemas),
    ...headerParameters(route, idempotencyKey),
  ]
}

/** Returns the request body of a route; undefined if it has none. */
export function requestBodyOf(route: Route, schemas: JsonSchemas): Json | undefined {
  if (route.body)
    return {
      // A body without required fields may be omitted.
      required: !route.body.safeParse({}).success,
      content: { 'application/json': { schema: schemas.use(route.body) } },
    }
  if (!route.requestKind) return undefined
  const types = route.requestTypes ?? ['application/octet-stream']
  const content = types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])
  return { required: true, content: Object.fromEntries(content) }
}

/** Returns the credentials that a route accepts. */
export function securityOf(route: Route): Json[] {
  const { credentials } = route.access
  if (credentials === 'public') return []
  return credentials.endsWith('session') ? [{ cookie: [] }] : [{ bearer: [] }, { cookie: [] }]
}
