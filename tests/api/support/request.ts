/** Builds a valid request for any route, with ids of a tenant's resources or ids that do not exist. */
import { accessTerms, type Route, type RouteName, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestControlPlane, TestPerson } from '@dock/testkit'
import { bodies, type Ids, queries } from './bodies.ts'
import { readText } from './read-text.ts'
import { resources } from './resources.ts'
import type { Tenant } from './tenant.ts'

export type Answer = {
  status: number
  code: string | undefined
  text: string
  headers: Record<string, string>
}
export type Credentials = { key: string } | { cookie: string; fromOtherSite?: true } | null

/** Whose ids a request contains: for its scope, and for the rest. `absent` means ids that do not exist. */
export type Naming = { scope: Tenant | 'absent'; rest: Tenant | 'absent' }

/** A request whose resources exist, ready to be sent. */
export type Prepared = { method: string; path: string; body: object | undefined; confirm: string | undefined }

const parameterPattern = /\/:([A-Za-z]+)/g

/** Returns the path parameters of a route. `prefix` is the parameter's key in `resources`. */
export function parametersOf(route: Route): { name: string; prefix: string }[] {
  return [...route.path.matchAll(parameterPattern)].map((match) => ({
    name: match[1]!,
    prefix: route.path.slice(0, match.index + match[0].length),
  }))
}

/** Lists the rows that are missing in the tables to build a request for the route. */
export function missingRows(name: RouteName, route: Route): string[] {
  return [
    ...parametersOf(route)
      .filter(({ prefix }) => !(prefix in resources))
      .map(({ prefix }) => `support/resources.ts: ${prefix}`),
    ...(route.body && !(name in bodies) && !route.body.safeParse({}).success
      ? [`support/bodies.ts: ${name}`]
      : []),
  ]
}

const absentIds = (): Ids => ({ organizationId: newUuid(), workspaceId: newUuid(), dockId: newUuid() })

const made = new WeakMap<Tenant, Map<string, Promise<string>>>()

/** Returns the id of a resource of the tenant. Each kind is created once per tenant. */
export function resourceIdOf(server: TestControlPlane, tenant: Tenant, prefix: string): Promise<string> {
  const ofTenant = made.get(tenant) ?? new Map<string, Promise<string>>()
  made.set(tenant, ofTenant)
  const id = ofTenant.get(prefix) ?? Promise.resolve(resources[prefix]!(server, tenant))
  ofTenant.set(prefix, id)
  return id
}

/** Creates the resources that the request names, and builds the request. */
export async function prepare(server: TestControlPlane, name: RouteName, naming: Naming): Promise<Prepared> {
  const route: Route = routes[name]
  const scopePlace = accessTerms(route.access)?.place
  let path = route.path
  let confirm: string | undefined
  for (const parameter of parametersOf(route)) {
    const from = scopePlace === `params.${parameter.name}` ? naming.scope : naming.rest
    const id =
      from === 'absent' ? absentId(parameter.name) : await resourceIdOf(server, from, parameter.prefix)
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

/** Returns a valid id that does not exist. */
const absentId = (parameter: string): string => (parameter === 'port' ? '9' : newUuid())

const headersOf = (credentials: Credentials): Record<string, string> => {
  if (!credentials) return {}
  if ('key' in credentials) return { authorization: `Bearer ${credentials.key}` }
  return {
    cookie: credentials.cookie,
    'sec-fetch-site': credentials.fromOtherSite ? 'cross-site' : 'same-origin',
  }
}

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
  const text = await readText(response)
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

/** Returns the person's credentials for the route: a session if the route requires one, otherwise a key. */
export function credentialsOf(route: Route, person: TestPerson): Credentials {
  return route.access.credentials.endsWith('session') ? { cookie: person.cookie } : { key: person.apiKey }
}
