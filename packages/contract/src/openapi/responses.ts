/** The responses of each operation. Failures with the same codes are one named response under `components`. */
import { type ErrorCode, errorCodes } from '../errors.ts'
import type { Route } from '../route.ts'
import { errorCodesByStatus } from './error-codes.ts'
import type { Json, JsonSchemas } from './json-schemas.ts'

const pascal = (code: string): string =>
  code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** `account_closed` has two statuses, so its name needs the second one. */
const nameOf = (status: number, codes: readonly ErrorCode[]): string =>
  codes.map(pascal).join('Or') + (codes.every((code) => errorCodes[code].status === status) ? '' : status)

const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again. Not always present.',
    schema: { type: 'integer', minimum: 0 },
  },
}

const failureResponse = (status: number, codes: readonly ErrorCode[]): Json => ({
  description: codes.map((code) => `\`${code}\`: ${errorCodes[code].message}`).join('\n\n'),
  ...(status === 429 || status === 503 ? { headers: retryAfter } : {}),
  content: {
    'application/json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/Failure' },
          { type: 'object', properties: { code: { type: 'string', enum: codes } } },
        ],
      },
      example: { ok: false, code: codes[0], message: errorCodes[codes[0] as ErrorCode].message },
    },
  },
})

/** What a WebSocket route returns instead of the connection. Clients without WebSockets know no status 101. */
const notUpgraded: Json = {
  description: 'The connection stays HTTP: the request failed.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
}

/** Returns references to the failures of a route, and adds their definitions to `definitions`. */
export function failureResponses(route: Route, definitions: Map<string, Json>): Json {
  const failures = Object.fromEntries(
    [...errorCodesByStatus(route)].map(([status, unsorted]) => {
      const codes = unsorted.toSorted()
      const name = nameOf(status, codes)
      if (!definitions.has(name)) definitions.set(name, failureResponse(status, codes))
      return [String(status), { $ref: `#/components/responses/${name}` }]
    }),
  )
  return route.responseKind === 'websocket' ? { ...failures, default: notUpgraded } : failures
}

const jsonContent = (data: Json): Json => ({
  'application/json': {
    schema: {
      type: 'object',
      properties: { ok: { const: true }, data },
      required: ['ok', 'data'],
      additionalProperties: false,
    },
  },
})

const rawContent = (route: Route, schema: Json, lines: Json | undefined): Json =>
  Object.fromEntries(
    (route.responseTypes ?? ['application/octet-stream']).map((type) => [
      type,
      lines && type === 'application/x-ndjson'
        ? { schema: { ...schema, contentMediaType: 'application/json', contentSchema: lines } }
        : { schema },
    ]),
  )

/** Returns the status and the response of a route's success. */
export function successResponse(route: Route, schemas: JsonSchemas): [string, Json] {
  const schema = schemas.use(route.response)
  if (route.responseKind === 'websocket') {
    const content = { 'application/octet-stream': { schema } }
    return ['101', { description: 'The connection becomes a WebSocket.', content }]
  }
  const content =
    route.responseKind === 'raw'
      ? rawContent(route, schema, route.lineSchema && schemas.use(route.lineSchema))
      : jsonContent(schema)
  return [String(route.status ?? 200), { description: successDescription(route), content }]
}

const successDescription = ({ status, responseKind }: Route): string => {
  if (responseKind === 'raw') return 'The bytes.'
  if (status === 201) return 'It is created.'
  if (status === 202) return 'It is accepted, and goes on after the response.'
  return 'The request succeeded.'
}
