/**
 * Who may call a route. Every route declares it, and a declaration that forgets whose thing the route touches, or the
 * lowest role that may, does not compile.
 */
import type { ErrorCode } from './errors.ts'

const roles = ['member', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** Whether `role` is at least `lowest` (member < admin < owner). */
export function roleReaches(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest)
}

/** Where in a request an id stands: `params.id`, `body.organizationId`. */
export type Place = `${'params' | 'query' | 'body'}.${string}`

/**
 * The kinds of things through which the owning organization is found, each with the code that a caller outside of it
 * gets: the same as for a thing that does not exist.
 */
export const outsiderCodes = {
  organization: 'organization_not_found',
  workspace: 'workspace_not_found',
  /** The workspace that a Dock is to be made in. */
  dockHome: 'dock_not_found',
  dock: 'dock_not_found',
  snapshot: 'snapshot_not_found',
  operation: 'operation_not_found',
  environment: 'environment_not_found',
  run: 'run_not_found',
} as const satisfies Record<string, ErrorCode>

export type ScopeKind = keyof typeof outsiderCodes

/** One thing of an organization, and where the request names it: `{ dock: 'params.id' }`. */
export type Scope = { [K in ScopeKind]: { [Kind in K]: Place } }[ScopeKind]

/** An API key or a session; with `session`, a session alone. */
type PersonCredentials = 'caller' | 'session'

export type PublicAccess = { credentials: 'public' }

/** `instance-admin` is a caller on the admin list with a verified address. */
export type InstanceAccess = { credentials: 'instance-admin' | 'instance-admin-session' }

/** What belongs to the caller: their own things, or the lists over all their organizations. */
export type PersonAccess = {
  credentials: PersonCredentials
  scope: 'person' | 'organizations'
  /** A closed account may call as well. */
  closedAccount?: true
}

export type OrganizationAccess = {
  credentials: PersonCredentials
  scope: Scope
  /** The lowest role in the owning organization. */
  role: Role
  /** Instead of the code of {@link outsiderCodes}. */
  outsider?: ErrorCode
}

/** A Dock-bound key may call as well, for its own Dock. */
export type DockKeyAccess = OrganizationAccess & { scope: { dock: 'params.id' }; dockKey: true }

export type Access = PublicAccess | InstanceAccess | PersonAccess | OrganizationAccess | DockKeyAccess

/** What is asked of a caller who names a thing of an organization's. */
export type AccessTerms = { role: Role; outsider: ErrorCode }

/** The terms of a route that touches one organization's things; undefined on all others. */
export function accessTerms(access: Access): (AccessTerms & { kind: ScopeKind; place: Place }) | undefined {
  if (!('role' in access)) return undefined
  const [kind, place] = Object.entries(access.scope)[0] as [ScopeKind, Place]
  return { kind, place, role: access.role, outsider: access.outsider ?? outsiderCodes[kind] }
}
