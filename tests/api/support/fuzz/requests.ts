/** Generates requests for the operations of the OpenAPI document: half of them valid, half with an error. */
import type { OpenApiDocument, RouteName } from '@dock/contract'
import fc from 'fast-check'
import { fromSchema, type Schema } from './from-schema.ts'
import { brokenBody, nastyText, nastyValue } from './nasty-values.ts'

/** Kinds of senders. */
export const senders = [
  'owner',
  'owner-session',
  'member',
  'instance-admin',
  'stranger',
  'nobody',
  'nonsense',
] as const
export type Sender = (typeof senders)[number]

/** Texts may contain `@name@` or `@/v1/path/:id@` as placeholders for ids of real resources. */
export type FuzzRequest = {
  operationId: RouteName
  method: string
  path: string
  query: [string, string][]
  headers: [string, string][]
  /** The exact text to send, or null for no body. */
  body: string | null
  sender: Sender
}

type Parameter = { name: string; in: 'path' | 'query' | 'header'; required: boolean; schema: Schema }
type Operation = {
  operationId: RouteName
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

const sender: fc.Arbitrary<Sender> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Sender>('owner') },
  { weight: 4, arbitrary: fc.constant<Sender>('owner-session') },
  ...senders.slice(2).map((each) => ({ weight: 1, arbitrary: fc.constant(each) })),
)

/** Generates `good`. If `wrong`, generates `bad` in two of five cases. */
const orNasty = <T>(wrong: boolean, good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  wrong ? fc.oneof({ weight: 3, arbitrary: good }, { weight: 2, arbitrary: bad }) : good

/** Percent-encodes a text for a path. Invalid Unicode becomes an encoded lone surrogate. */
const inPath = (text: string): string => {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ED%A0%80'
  }
}

const pathParameter = (template: string, name: string, wrong: boolean): fc.Arbitrary<[string, string]> => {
  const prefix = template.slice(0, template.indexOf(`{${name}}`)).replaceAll(/\{([A-Za-z]+)\}/g, ':$1')
  const real = fc.oneof(
    { weight: 5, arbitrary: fc.constant(`@${prefix}:${name}@`) },
    { weight: 1, arbitrary: fc.uuid() },
  )
  return orNasty(wrong, real, nastyText.map(inPath)).map((text) => [name, text])
}

const pathOf = (template: string, parameters: Parameter[], wrong: boolean): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...parameters
        .filter((each) => each.in === 'path')
        .map(({ name }) => pathParameter(template, name, wrong)),
    )
    .map((values) => values.reduce((path, [name, text]) => path.replace(`{${name}}`, () => text), template))

const namedIn = (
  place: 'query' | 'header',
  parameters: Parameter[],
  wrong: boolean,
): fc.Arbitrary<[string, string][]> => {
  const each = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, schema }) => {
      const value = orNasty(wrong, fromSchema(schema, name).map(String), nastyText)
      const present = required && !wrong ? fc.constant(true) : fc.boolean()
      return fc.tuple(present, value).map(([is, text]): [string, string][] => (is ? [[name, text]] : []))
    })
  const extra: fc.Arbitrary<[string, string][]> =
    wrong && place === 'query'
      ? fc.array(fc.tuple(fc.constantFrom('limit', 'organizationId', '__proto__', 'x'), nastyText), {
          maxLength: 2,
        })
      : fc.constant([])
  return fc.tuple(fc.tuple(...each), extra).map(([known, more]) => [...known.flat(), ...more])
}

/** Removes characters that `fetch` does not accept in a header value. */
const headerText = (text: string): string => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 4000)

const spoil = (body: object): fc.Arbitrary<unknown> => {
  const names = Object.keys(body)
  const field = names.length > 0 ? fc.constantFrom(...names) : fc.constant('name')
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(field, nastyValue).map(([name, value]) => ({ ...body, [name]: value })),
    },
    { weight: 2, arbitrary: nastyText.map((name) => ({ ...body, [name]: 1 })) },
    {
      weight: 2,
      arbitrary: field.map((gone) =>
        Object.fromEntries(Object.entries(body).filter(([name]) => name !== gone)),
      ),
    },
    { weight: 1, arbitrary: nastyValue },
  )
}

const bodyOf = (schema: Schema | undefined, wrong: boolean): fc.Arbitrary<string | null> => {
  const good = schema ? fromSchema(schema, '') : fc.constantFrom({}, undefined)
  const asText = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
  if (!wrong) return good.map(asText)
  return fc.oneof(
    { weight: 5, arbitrary: good.chain((body) => spoil((body ?? {}) as object)).map(asText) },
    { weight: 1, arbitrary: good.map(asText) },
    { weight: 1, arbitrary: brokenBody },
  )
}

const requestOf = (template: string, method: string, operation: Operation): fc.Arbitrary<FuzzRequest> =>
  fc.boolean().chain((wrong) => {
    const parameters = operation.parameters ?? []
    const schema = operation.requestBody?.content['application/json']?.schema
    return fc
      .record({
        path: pathOf(template, parameters, wrong),
        query: namedIn('query', parameters, wrong),
        headers: namedIn('header', parameters, wrong),
        body: method === 'get' ? fc.constant(null) : bodyOf(schema, wrong),
        sender,
      })
      .map((parts) => ({
        ...parts,
        operationId: operation.operationId,
        method: method.toUpperCase(),
        headers: parts.headers.map(([name, text]): [string, string] => [name, headerText(text)]),
      }))
  })

/** Replaces each reference to a schema by the schema. No schema contains itself. */
export function resolveReferences<T>(value: T, schemas: Readonly<Record<string, unknown>>): T {
  return JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each?.$ref === 'string' && each.$ref.startsWith('#/components/schemas/')
      ? resolveReferences(schemas[each.$ref.split('/').at(-1)], schemas)
      : each,
  )
}

/** Generates requests of the named operations. */
export function requestsOf(document: OpenApiDocument, names: ReadonlySet<string>): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(
    ...Object.entries(resolveReferences(document.paths, document.components.schemas)).flatMap(
      ([template, operations]) =>
        Object.entries(operations as unknown as Record<string, Operation>)
          .filter(([, operation]) => names.has(operation.operationId))
          .map(([method, operation]) => requestOf(template, method, operation)),
    ),
  )
}
