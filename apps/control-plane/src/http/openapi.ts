/** The machine-readable contract (OpenAPI 3.1), made from the same objects that requests are validated with. */
import { errorCodes, type Route, routes } from '@dock/contract'
import * as z from 'zod'

type Json = Record<string, unknown>

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  return rest
}

/** `/v1/docks/:id` as `/v1/docks/{id}`; a colon inside a segment is part of its name. */
const templated = (path: string): string => path.replace(/\/:([A-Za-z]+)/g, '/{$1}')

type Parameter = { name: string; in: string; required: boolean; schema: Json }

const parametersIn = (place: 'path' | 'query', object: z.ZodObject | undefined): Parameter[] => {
  if (!object) return []
  const schema = schemaOf(object, 'input') as { properties?: Record<string, Json>; required?: string[] }
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (schema.required?.includes(name) ?? false),
    schema: property,
  }))
}

const pathParameters = (route: Route): Parameter[] => {
  const described = parametersIn('path', route.params)
  const missing = [...route.path.matchAll(/\/:([A-Za-z]+)/g)]
    .map((match) => match[1] ?? '')
    .filter((name) => !described.some((parameter) => parameter.name === name))
  return [
    ...described,
    ...missing.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  ]
}

const successOf = (route: Route): Json => {
  if (route.responseKind === 'websocket') return { 101: { description: 'Switches to WebSocket.' } }
  const status = route.status ?? 200
  if (route.responseKind === 'raw') {
    const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
    return { [status]: { description: 'Bytes as they are.', content } }
  }
  const schema = {
    type: 'object',
    required: ['ok', 'data'],
    properties: { ok: { const: true }, data: schemaOf(route.response, 'output') },
  }
  return { [status]: { description: 'Success.', content: { 'application/json': { schema } } } }
}

const failuresOf = (route: Route): Json => {
  const codes = new Set<keyof typeof errorCodes>(route.errors)
  if (route.access.credentials !== 'public') codes.add('unauthorized')
  if (route.notFound) codes.add(route.notFound)
  codes.add('internal_error')
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `${code}: ${errorCodes[code].message}`).join(' '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      },
    ]),
  )
}

const securityOf = (route: Route): Json[] => {
  const { credentials } = route.access
  if (credentials === 'public') return []
  const session = { session: [] }
  return credentials === 'session' || credentials === 'instance-admin-session'
    ? [session]
    : [{ apiKey: [] }, session]
}

const operationOf = (name: string, route: Route): Json => ({
  operationId: name,
  summary: route.summary,
  tags: [route.tag],
  security: securityOf(route),
  parameters: [
    ...pathParameters(route),
    ...parametersIn('query', route.query),
    ...(route.headers ?? []).map((header) => ({
      name: header,
      in: 'header',
      required: header === 'x-confirm-delete',
      schema: { type: 'string' },
    })),
  ],
  ...(route.body
    ? {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(route.body, 'input') } },
        },
      }
    : {}),
  responses: { ...successOf(route), ...failuresOf(route) },
})

/** The whole document; `cookieName` is that of the session. */
export const openApiDocument = (apiUrl: string, cookieName: string): Json => {
  const paths: Record<string, Json> = {}
  for (const [name, route] of Object.entries<Route>(routes)) {
    const path = templated(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(name, route) }
  }
  const failure = {
    type: 'object',
    required: ['ok', 'code', 'message'],
    properties: {
      ok: { const: false },
      code: { type: 'string', enum: Object.keys(errorCodes) },
      message: { type: 'string' },
    },
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Dock', version: '1', description: 'Isolated Linux machines on demand.' },
    servers: [{ url: apiUrl }],
    paths,
    components: {
      schemas: { Failure: failure },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: cookieName },
      },
    },
  }
}
