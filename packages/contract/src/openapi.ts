/** Generates the OpenAPI 3.1 document from the routes. */
import { errorCodes } from './errors.ts'
import { webhookDelivery, webhookTestDelivery } from './events.ts'
import { idempotencyKey } from './fields.ts'
import { examples } from './openapi/examples.ts'
import { fieldDescriptions } from './openapi/field-descriptions.ts'
import { collectReferences, type Json, type JsonSchemas, jsonSchemas } from './openapi/json-schemas.ts'
import { parametersOf, requestBodyOf, securityOf } from './openapi/parameters.ts'
import { failureResponses, successResponse } from './openapi/responses.ts'
import { tagDescriptions } from './openapi/tags.ts'
import type { Route } from './route.ts'
import { type RouteName, routes } from './routes.ts'

export type OpenApiOptions = {
  /** The service's address without `/v1`. When unset, the document has no `servers`. */
  serverUrl?: string
  version?: string
  /** Name of the session cookie. */
  cookieName?: string
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: Json
  servers?: Json[]
  tags: { name: string; description: string | undefined }[]
  paths: Record<string, Record<string, Json>>
  webhooks: Record<string, Json>
  components: { securitySchemes: Json; schemas: Record<string, Json>; responses: Record<string, Json> }
}

const allRoutes = (): [RouteName, Route][] => Object.entries(routes) as [RouteName, Route][]

/** Converts `/v1/docks/:id` to `/v1/docks/{id}`. A colon inside a segment stays. */
export function openApiPath(path: string): string {
  return path.replaceAll(/(?<=\/):([A-Za-z]+)/g, '{$1}')
}

const failure: Json = {
  type: 'object',
  description: 'What the service returns when a request fails.',
  properties: {
    ok: { const: false },
    code: { type: 'string', enum: Object.keys(errorCodes) },
    message: { type: 'string' },
  },
  required: ['ok', 'code', 'message'],
}

const securitySchemes = (cookieName: string): Json => ({
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, which begins with `dock_`. Create one under "Keys".',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieName,
    description: 'The session of a person who signed in at `/api/auth`.',
  },
})

/** Adds an object's example and the descriptions of its fields. References to other objects have their own. */
const explained = (name: string, definition: Json): Json => {
  const texts = fieldDescriptions[name] ?? {}
  const properties = Object.entries((definition.properties ?? {}) as Record<string, Json>).map(
    ([field, schema]) => [
      field,
      texts[field] === undefined || '$ref' in schema ? schema : { ...schema, description: texts[field] },
    ],
  )
  return {
    ...definition,
    ...(definition.properties ? { properties: Object.fromEntries(properties) } : {}),
    ...(examples[name] ? { examples: [examples[name]] } : {}),
  }
}

/**
 * Returns the definition of a named schema: what callers send for bodies and all that they contain, else what the service
 * returns. Throws if a schema is both and they differ, as with a default: it needs two names.
 */
const definitions = (input: JsonSchemas, output: JsonSchemas) => {
  const reach = (schemas: JsonSchemas, part: 'body' | 'response'): Set<string> => {
    const found = new Set<string>()
    const used = allRoutes().flatMap(([, route]) => (route[part] ? [schemas.use(route[part])] : []))
    collectReferences(used, schemas.definition, found)
    return found
  }
  const sent = reach(input, 'body')
  for (const name of reach(output, 'response'))
    if (sent.has(name) && JSON.stringify(input.definition(name)) !== JSON.stringify(output.definition(name)))
      throw new Error(`${name} differs as a request and as a response`)
  return (name: string): Json =>
    name === 'Failure' ? failure : (sent.has(name) ? input : output).definition(name)
}

const webhookOf = (summary: string, body: Json): Json => ({
  post: {
    summary,
    description:
      'The header `dock-signature` is `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`, made with the secret of the endpoint. Check it before you trust the body.',
    operationId: `receive${String(body.$ref).split('/').at(-1)}`,
    tags: ['Webhooks'],
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      '2XX': { description: 'The event was received.' },
      '410': { description: 'The endpoint is gone. Dock disables it.' },
    },
  },
})

/** Returns the document that `GET /openapi.json` serves. */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const all = allRoutes().map(([, route]) => route)
  const input = jsonSchemas('input', [
    ...all.flatMap(({ params, query, body }) => [params, query, body].filter((each) => each !== undefined)),
    idempotencyKey,
  ])
  const output = jsonSchemas(
    'output',
    all.map(({ response }) => response),
  )
  const responses = new Map<string, Json>()
  const operationOf = (name: RouteName, route: Route): Json => {
    const parameters = parametersOf(route, input, input.use(idempotencyKey))
    const requestBody = requestBodyOf(route, input)
    const [status, success] = successResponse(route, output)
    return {
      operationId: name,
      summary: route.summary,
      description: route.description,
      tags: [route.tag],
      security: securityOf(route),
      ...(route.extension ? { 'x-dock-extension': true } : {}),
      ...('role' in route.access ? { 'x-role': route.access.role } : {}),
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(requestBody ? { requestBody } : {}),
      responses: { [status]: success, ...failureResponses(route, responses) },
    }
  }
  const paths: OpenApiDocument['paths'] = {}
  for (const [name, route] of allRoutes()) {
    const path = openApiPath(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(name, route) }
  }
  const webhooks = {
    'dock-event': webhookOf('A Dock changed its state', output.use(webhookDelivery)),
    test: webhookOf('A test that somebody requested', output.use(webhookTestDelivery)),
  }
  const used = new Set<string>()
  const definition = definitions(input, output)
  collectReferences([paths, webhooks, Object.fromEntries(responses)], definition, used)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dock',
      version: options.version ?? '1',
      description:
        'Isolated Linux machines on demand. Responses are `{ok: true, data}` or `{ok: false, code, message}`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ...(options.serverUrl === undefined ? {} : { servers: [{ url: options.serverUrl }] }),
    tags: [...new Set(all.map(({ tag }) => tag))]
      .toSorted()
      .map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    webhooks,
    components: {
      securitySchemes: securitySchemes(options.cookieName ?? 'dock.session_token'),
      schemas: Object.fromEntries(
        [...used].toSorted().map((name) => [name, explained(name, definition(name))]),
      ),
      responses: Object.fromEntries([...responses].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}
