/** A valid request of any route, for things of a tenant or for things that do not exist. */
import { accessTerms, type Route, type RouteName, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestControlPlane, TestPerson } from '@dock/testkit'
import { bodies, type Ids, queries } from './bodies.ts'
import type { Tenant } from './tenant.ts'
import { things } from './things.ts'

export type Answer = {
  status: number
  code: string | undefined
  text: string
  headers: Record<string, string>
}
export type Credentials = { key: string } | { cookie: string; fromOtherSite?: true } | null

/** Which of the ids in a request are the tenant's; the others name nothing. */
export type Naming = { scope: Tenant | 'absent'; rest: Tenant | 'absent' }

/** A request that has its things, before somebody sends it. */
export type Prepared = { method: string; path: string; body: object | undefined; confirm: string | undefined }

const parameterPattern = /\/:([A-Za-z]+)/g

/** The parameters of a route's path, each with its row's name in the table of things. */
export function parametersOf(route: Route): { name: string; prefix: string }[] {
  return [...route.path.matchAll(parameterPattern)].map((match) => ({
    name: match[1]!,
    prefix: route.path.slice(0, match.index + match[0].length),
  }))
}

/** What is missing in the tables for a route to be asked; empty when nothing is. */
export function missingRows(name: RouteName, route: Route): string[] {
  return [
    ...parametersOf(route)
      .filter(({ prefix }) => !(prefix in things))
      .map(({ prefix }) => `support/things.ts: ${prefix}`),
    ...(route.body && !(name in bodies) && !route.body.safeParse({}).success
      ? [`support/bodies.ts: ${name}`]
      : []),
  ]
}

const absentIds = (): Ids => ({ organizationId: newUuid(), workspaceId: newUuid(), dockId: newUuid() })

const made = new WeakMap<Tenant, Map<string, Promise<string>>>()

/** One thing of each kind for each tenant: asking for it must not change it. */
export function thingOf(server: TestControlPlane, tenant: Tenant, prefix: string): Promise<string> {
  const ofTenant = made.get(tenant) ?? new Map<string, Promise<string>>()
  made.set(tenant, ofTenant)
  const thing = ofTenant.get(prefix) ?? Promise.resolve(things[prefix]!(server, tenant))
  ofTenant.set(prefix, thing)
  return thing
}

/** Makes what the request names, and the request. */
export async function prepare(server: TestControlPlane, name: RouteName, naming: Naming): Promise<Prepared> {
  const route: Route = routes[name]
  const scopePlace = accessTerms(route.access)?.place
  let path = route.path
  let confirm: string | undefined
  for (const parameter of parametersOf(route)) {
    const from = scopePlace === `params.${parameter.name}` ? naming.scope : naming.rest
    const id = from === 'absent' ? absentId(parameter.name) : await thingOf(server, from, parameter.prefix)
    path = path.replace(`/:${parameter.name}`, `/${encodeURIComponent(id)}`)
    confirm = id
  }
  const ids: Ids = naming.scope === 'absent' ? absentIds() : naming.scope
  const query = new URLSearchParams(queries[name])
  for (const key of ['organizationId', 'workspaceId'] as const)
    if (route.query && key in route.query.shape) query.set(key, ids[key])
  const search = query.toString()
  return {
    method: route.method,
    path: search === '' ? path : `${path}?${search}`,
    body: bodies[name]?.(ids),
    confirm: route.headers?.includes('x-confirm-delete') ? confirm : undefined,
  }
}

/** Well formed, and nobody's. */
const absentId = (parameter: string): string => (parameter === 'port' ? '9' : newUuid())

const headersOf = (credentials: Credentials): Record<string, string> => {
  if (!credentials) return {}
  if ('key' in credentials) return { authorization: `Bearer ${credentials.key}` }
  return {
    cookie: credentials.cookie,
    'sec-fetch-site': credentials.fromOtherSite ? 'cross-site' : 'same-origin',
  }
}

/** Sends it. */
export async function send(
  server: TestControlPlane,
  request: Prepared,
  credentials: Credentials,
): Promise<Answer> {
  const response = await server.fetch(request.path, {
    method: request.method,
    headers: {
      ...headersOf(credentials),
      ...(request.confirm === undefined ? {} : { 'x-confirm-delete': request.confirm }),
    },
    ...(request.body ? { body: JSON.stringify(request.body) } : {}),
  })
  const text = await response.text()
  const { 'x-request-id': _, ...headers } = Object.fromEntries(response.headers)
  return { status: response.status, code: codeOf(text), text, headers }
}

const codeOf = (text: string): string | undefined => {
  try {
    return (JSON.parse(text) as { code?: string }).code
  } catch {
    return undefined
  }
}

/** How a person may call the route: by key, or by session where the route wants one. */
export function credentialsOf(route: Route, person: TestPerson): Credentials {
  return route.access.credentials.endsWith('session') ? { cookie: person.cookie } : { key: person.apiKey }
}
