/**
 * Puts values that PostgreSQL refuses into every input of every route, one at a time. No request may cause an internal
 * error, or a response that the contract does not have. The fuzz meets such values only by chance. Each input gets the
 * first value of its kind and a quarter of the others, which change from input to input. `DOCK_HOSTILE_VALUES=all` puts
 * all of them into each input, as script/prove fuzz does.
 */
import { openApiDocument, type Route, type RouteName, routes } from '@dock/contract'
import { addPerson, startControlPlaneWithHost, type TestPerson } from '@dock/testkit'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { fromSchema, type Schema } from './support/fuzz/from-schema.ts'
import { hostileCursors, hostileNumbers, hostileTexts } from './support/fuzz/hostile-values.ts'
import { judge } from './support/fuzz/judge.ts'
import { resolveReferences } from './support/fuzz/requests.ts'
import { credentialsOf, missingRows, type Prepared, prepare, send } from './support/request.ts'
import { makeTenant, type Tenant } from './support/tenant.ts'

/** Errors logged by the control plane. */
const logged: string[] = []
const server = await startControlPlaneWithHost({
  confinesProcesses: true,
  logTo: (line) => {
    const entry = JSON.parse(line) as { level: number; err?: { message?: string } }
    if (entry.level >= 50) logged.push(entry.err?.message ?? line)
  },
})
afterAll(() => server.stop())

type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: Schema }
type Operation = {
  operationId: RouteName
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}
const document = openApiDocument()
const operations = Object.values(resolveReferences(document.paths, document.components.schemas)).flatMap(
  (methods) => Object.values(methods as unknown as Record<string, Operation>),
)

/** Routes whose response does not end. */
const left = new Set<RouteName>(['readLive', 'watchDockFiles', 'connectTerminal'])
/** Routes after which other requests to the tenant would prove nothing. Deletes are such routes, too. */
const ending = new Set<RouteName>(['closeAccount', 'eraseAccount', 'stopDock'])

const allValues = process.env.DOCK_HOSTILE_VALUES === 'all'
/** Returns a function that chooses the values of one input after the other, the same ones each time. */
const chooseFrom = (first: number) => {
  let input = first
  return <Value>(values: readonly Value[]): readonly Value[] => {
    const part = input++ % 4
    return allValues ? values : values.filter((_, index) => index === 0 || index % 4 === part)
  }
}

type Path = readonly (string | number)[]

/** Returns the places of the schema that hold a text or a number. */
const leavesOf = (schema: Schema, at: Path = []): { at: Path; schema: Schema }[] => {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.flatMap((choice) => leavesOf(choice, at))
  if (schema.type === 'array') return leavesOf(schema.items ?? {}, [...at, 0])
  if (schema.type !== 'object') return [{ at, schema }]
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
    leavesOf(each, [...at, name]),
  )
  return typeof schema.additionalProperties === 'object'
    ? [...named, ...leavesOf(schema.additionalProperties, [...at, 'KEY'])]
    : named
}

/** Returns a copy of `value` with `leaf` at this place. */
const withLeaf = (value: unknown, [first, ...rest]: Path, leaf: unknown): unknown => {
  if (first === undefined) return leaf
  if (typeof first === 'number') return [withLeaf(undefined, rest, leaf)]
  const known = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return { ...known, [first]: withLeaf(known[first], rest, leaf) }
}

const hostileFor = (name: string, schema: Schema): readonly unknown[] => {
  if (name === 'cursor') return hostileCursors
  if (schema.type === 'integer' || schema.type === 'number') return hostileNumbers
  return schema.type === 'string' && !schema.enum ? hostileTexts : []
}

/** Returns the request once for each hostile value in each of its inputs. */
const hostileVersions = (operation: Operation, good: Prepared): { at: string; request: Prepared }[] => {
  const someOf = chooseFrom(operations.indexOf(operation))
  const url = new URL(good.path, server.config.apiUrl)
  const inQuery = (operation.parameters ?? [])
    .filter((each) => each.in === 'query')
    .flatMap(({ name, schema }) =>
      someOf(name === 'cursor' ? hostileCursors : hostileTexts).map((text) => {
        const query = new URLSearchParams(url.search)
        query.set(name, text)
        return { at: `query ${name}`, request: { ...good, path: `${url.pathname}?${query}` }, schema }
      }),
    )
  const template = routes[operation.operationId].path.split('/')
  const inPath = template.flatMap((part, index) =>
    part.startsWith(':')
      ? someOf(hostileTexts).map((text) => {
          const parts = url.pathname.split('/')
          parts[index] = encodeURIComponent(text.toWellFormed())
          return { at: `path ${part}`, request: { ...good, path: parts.join('/') + url.search } }
        })
      : [],
  )
  const schema = operation.requestBody?.content['application/json']?.schema
  const inBody = leavesOf(schema ?? {}).flatMap(({ at, schema: leaf }) =>
    at.length === 0
      ? []
      : someOf(hostileFor(String(at[0]), leaf)).map((value) => ({
          at: `body ${at.join('.')}`,
          request: { ...good, body: withLeaf(fill(good.body, schema!, at), at, value) as object },
        })),
  )
  return [...inQuery, ...inPath, ...inBody]
}

/** Adds the fields that the object with this leaf needs besides. */
const fill = (body: object | undefined, schema: Schema, at: Path): unknown => {
  const inner = schema.properties?.[String(at[0])]
  if (at.length < 2 || !inner) return body ?? {}
  const [made] = fc.sample(fromSchema(inner, String(at[0])), { numRuns: 1, seed: 1 })
  return { ...body, [at[0]!]: made }
}

it('no input of any route brings a value to PostgreSQL that it refuses', { timeout: 600_000 }, async () => {
  const instanceAdmin: TestPerson = await addPerson(server, { instanceAdmin: true })
  const found = new Map<string, string>()
  let count = 0
  for (const operation of operations) {
    const name = operation.operationId
    const route: Route = routes[name]
    if (left.has(name) || !(name in server.controlPlane.handlers) || missingRows(name, route).length > 0)
      continue
    const person = route.access.credentials.startsWith('instance') ? instanceAdmin : undefined
    let tenant: Tenant
    const versions = async () => {
      tenant = await makeTenant(server)
      return hostileVersions(operation, await prepare(server, name, { scope: tenant, rest: tenant }))
    }
    let list = await versions()
    let limited = -1
    for (let index = 0; index < list.length; index++) {
      const { at, request } = list[index]!
      const response = await send(server, request, credentialsOf(route, person ?? tenant!.owner))
      count += 1
      const headers = new Headers({ 'x-request-id': 'x', ...response.headers })
      const verdict = judge(name, response.status, headers, response.text)
      if (!verdict.ok) found.set(`${name} ${at}: ${verdict.why}`, logged.at(-1) ?? '')
      const ended = response.status < 300 && (ending.has(name) || route.method === 'DELETE')
      if (!ended && response.status !== 429) continue
      list = await versions()
      // A request that met a rate limit is sent once more, by a new tenant.
      if (response.status === 429 && limited !== index) limited = index--
    }
  }
  process.stdout.write(`hostile inputs: ${count} requests\n`)
  expect([...found]).toEqual([])
  expect(logged).toEqual([])
})
