/**
 * Who may call a route. Every route declares its access. A declaration that omits the scope or the lowest role does not
 * compile.
 */
import type { ErrorCode } from './errors.ts'

/** From the role with the fewest rights to the role with the most. */
export const roles = ['member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** Returns true if `role` is at least `lowest` (member < admin < owner). */
export function roleReaches(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest)
}

/** The position of an id in a request: `params.id`, `body.organizationId`. */
export type Place = `${'params' | 'query' | 'body'}.${string}`

/**
 * The kinds of resource that lead to the owning organization. The code is what a non-member gets: the same code as for
 * a resource that does not exist.
 */
export const outsiderCodes = {
  organization: 'organization_not_found',
  workspace: 'workspace_not_found',
  /** The workspace in which a Dock is created. */
  dockHome: 'dock_not_found',
  dock: 'dock_not_found',
  snapshot: 'snapshot_not_found',
  operation: 'operation_not_found',
  environment: 'environment_not_found',
  run: 'run_not_found',
} as const satisfies Record<string, ErrorCode>

export type ScopeKind = keyof typeof outsiderCodes

/** A resource of an organization and the position of its id in the request: `{ dock: 'params.id' }`. */
export type Scope = { [K in ScopeKind]: { [Kind in K]: Place } }[ScopeKind]

/** `caller` accepts an API key or a session; `session` accepts only a session. */
type PersonCredentials = 'caller' | 'session'

export type PublicAccess = { credentials: 'public' }

/** `instance-admin` is a caller on the admin list with a verified address. */
export type InstanceAccess = { credentials: 'instance-admin' | 'instance-admin-session' }

/**
 * Whether an account whose address is not verified may call the route. By default it may read and delete. Everything
 * else could cost the instance something or give somebody access, while nobody knows who owns the account.
 */
type UnverifiedAccess = { unverified?: boolean }

/** Routes over the caller's own data (`person`) or over all their organizations (`organizations`). */
export type PersonAccess = UnverifiedAccess & {
  credentials: PersonCredentials
  scope: 'person' | 'organizations'
  /** A closed account may also call the route. */
  closedAccount?: true
}

export type OrganizationAccess = UnverifiedAccess & {
  credentials: PersonCredentials
  scope: Scope
  /** The lowest role in the owning organization. */
  role: Role
  /** Code for non-members; replaces the one in {@link outsiderCodes}. */
  outsider?: ErrorCode
}

/** A Dock-bound key may also call the route, for its own Dock only. */
export type DockKeyAccess = OrganizationAccess & { scope: { dock: 'params.id' }; dockKey: true }

export type Access = PublicAccess | InstanceAccess | PersonAccess | OrganizationAccess | DockKeyAccess

const methodsOfUnverified = new Set(['GET', 'HEAD', 'DELETE'])

/** Returns true if an account whose address is not verified may call the route with this method. */
export function admitsUnverified(access: Access, method: string): boolean {
  return 'unverified' in access && access.unverified !== undefined
    ? access.unverified
    : methodsOfUnverified.has(method)
}

/** The role a caller needs in the owning organization, and the code that non-members get. */
export type AccessTerms = { role: Role; outsider: ErrorCode }

/** Returns the terms of a route that touches a resource of an organization; undefined for every other route. */
export function accessTerms(access: Access): (AccessTerms & { kind: ScopeKind; place: Place }) | undefined {
  if (!('role' in access)) return undefined
  const [kind, place] = Object.entries(access.scope)[0] as [ScopeKind, Place]
  return { kind, place, role: access.role, outsider: access.outsider ?? outsiderCodes[kind] }
}
