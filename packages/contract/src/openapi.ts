/** Generates the OpenAPI 3.1 document from the routes. */
import * as z from 'zod'
import { accessTerms } from './access.ts'
import { type ErrorCode, errorCodes } from './errors.ts'
import { idempotencyKey } from './fields.ts'
import type { Route } from './route.ts'
import { type RouteName, routes } from './routes.ts'

export type OpenApiOptions = {
  /** The service's address without `/v1`. When unset, the document has no `servers`. */
  serverUrl?: string
  version?: string
  /** Name of the session cookie. */
  cookieName?: string
}

type Json = Record<string, unknown>
export type OpenApiDocument = {
  openapi: '3.1.0'
  info: Json
  servers?: Json[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Json>>
  components: Json
}

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  })
  return json
}

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
    'not_implemented',
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

const errorResponses = (route: Route): Json =>
  Object.fromEntries(
    [...errorCodesByStatus(route)].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `${code}: ${errorCodes[code].message}`).join('\n\n'),
        content: {
          'application/json': {
            schema: {
              allOf: [
                { $ref: '#/components/schemas/Failure' },
                { type: 'object', properties: { code: { enum: codes } } },
              ],
            },
          },
        },
      },
    ]),
  )

const successResponse = (route: Route): [string, Json] => {
  const schema = schemaOf(route.response, 'output')
  if (route.responseKind === 'websocket')
    return [
      '101',
      {
        description: 'The connection becomes a WebSocket.',
        content: { 'application/octet-stream': { schema } },
      },
    ]
  const content =
    route.responseKind === 'raw'
      ? Object.fromEntries(
          (route.responseTypes ?? ['application/octet-stream']).map((type) => [type, { schema }]),
        )
      : {
          'application/json': {
            schema: {
              type: 'object',
              properties: { ok: { const: true }, data: schema },
              required: ['ok', 'data'],
              additionalProperties: false,
            },
          },
        }
  return [String(route.status ?? 200), { description: route.summary, content }]
}

const parametersIn = (place: 'path' | 'query', schema: z.ZodObject | undefined): Json[] => {
  if (!schema) return []
  const json = schemaOf(schema, 'input') as { properties?: Json; required?: string[] }
  return Object.entries(json.properties ?? {}).map(([name, value]) => ({
    name,
    in: place,
    required: place === 'path' || (json.required ?? []).includes(name),
    schema: value,
  }))
}

const headerSchemas: Record<string, Json> = {
  'idempotency-key': schemaOf(idempotencyKey, 'input'),
  'x-dock-cancel-on-disconnect': { type: 'string', enum: ['true', 'false'] },
}
const headerDescriptions: Record<string, string> = {
  'x-dock-cancel-on-disconnect':
    'Extension: with `true`, the command is ended with everything it started as soon as the caller disconnects.',
}

const headerParameters = (route: Route): Json[] =>
  (route.headers ?? []).map((name) => ({
    name,
    in: 'header',
    required: name === 'x-confirm-delete',
    schema: headerSchemas[name] ?? { type: 'string' },
    ...(headerDescriptions[name] ? { description: headerDescriptions[name] } : {}),
  }))

const securityOf = (route: Route): Json[] => {
  const { credentials } = route.access
  if (credentials === 'public') return []
  return credentials.endsWith('session') ? [{ cookie: [] }] : [{ bearer: [] }, { cookie: [] }]
}

const requestBody = (body: z.ZodType): Json => ({
  // A body without required fields may be omitted.
  required: !body.safeParse({}).success,
  content: { 'application/json': { schema: schemaOf(body, 'input') } },
})

const rawBody = (types: readonly string[] = ['application/octet-stream']): Json => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])),
})

const operationOf = (name: RouteName, route: Route): Json => {
  const parameters = [
    ...parametersIn('path', route.params),
    ...parametersIn('query', route.query),
    ...headerParameters(route),
  ]
  const [status, success] = successResponse(route)
  return {
    operationId: name,
    summary: route.summary,
    tags: [route.tag],
    security: securityOf(route),
    ...('role' in route.access ? { 'x-role': route.access.role } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body ? { requestBody: requestBody(route.body) } : {}),
    ...(route.requestKind ? { requestBody: rawBody(route.requestTypes) } : {}),
    responses: { [status]: success, ...errorResponses(route) },
  }
}

/** Converts `/v1/docks/:id` to `/v1/docks/{id}`. A colon inside a segment stays. */
export function openApiPath(path: string): string {
  return path.replaceAll(/(?<=\/):([A-Za-z]+)/g, '{$1}')
}

const components = (cookieName: string): Json => ({
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'An API key: dock_…' },
    cookie: {
      type: 'apiKey',
      in: 'cookie',
      name: cookieName,
      description: 'Set by signing in at /api/auth.',
    },
  },
  schemas: {
    Failure: {
      type: 'object',
      properties: {
        ok: { const: false },
        code: { type: 'string', enum: Object.keys(errorCodes) },
        message: { type: 'string' },
      },
      required: ['ok', 'code', 'message'],
    },
  },
})

/** Returns the document that `GET /openapi.json` serves. */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  const tags = new Set<string>()
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    const path = openApiPath(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(name, route) }
    tags.add(route.tag)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dock',
      version: options.version ?? '1',
      description:
        'Isolated Linux machines on demand. Responses are {ok: true, data} or {ok: false, code, message}.',
    },
    ...(options.serverUrl === undefined ? {} : { servers: [{ url: options.serverUrl }] }),
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: components(options.cookieName ?? 'dock.session_token'),
  }
}
