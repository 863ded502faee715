/**
 * Checks the caller's access to the organization of a request. If the route names an organization or a workspace, the
 * membership is looked up here. If it names a Dock or another resource, the handler receives a {@link Visitor} and
 * must admit it when it loads the resource, before it returns.
 */
import { accessTerms, type Place, type Route, type ScopeKind } from '@dock/contract'
import {
  type Caller,
  createMember,
  createVisitor,
  type Member,
  type Membership,
  type Visitor,
} from '../modules/accounts/index.ts'

/** Finds the user's membership by the id of an organization or workspace, in one query. */
export type FindMembership = (userId: string, id: string) => Promise<Membership | undefined>
export type Memberships = { ofOrganization: FindMembership; ofWorkspace: FindMembership }

/** Parts of a request, validated by the contract's schemas. */
export type ValidRequest = { params: unknown; query: unknown; body: unknown }

export type CheckScope = (
  route: Route,
  caller: Caller,
  request: ValidRequest,
) => Promise<Caller | Member | Visitor>

const valueAt = (request: ValidRequest, place: Place): string => {
  const [part, name] = place.split('.') as [keyof ValidRequest, string]
  return (request[part] as Record<string, string>)[name]!
}

export function createScopeCheck(memberships: Memberships): CheckScope {
  const findBy: Partial<Record<ScopeKind, FindMembership>> = {
    organization: memberships.ofOrganization,
    workspace: memberships.ofWorkspace,
  }
  const termsOf = new WeakMap<Route, ReturnType<typeof accessTerms>>()
  return async (route, caller, request) => {
    if (!termsOf.has(route)) termsOf.set(route, accessTerms(route.access))
    const terms = termsOf.get(route)
    if (!terms) return caller
    const find = findBy[terms.kind]
    if (!find) return createVisitor(caller, terms)
    return createMember(caller, await find(caller.userId, valueAt(request, terms.place)), terms)
  }
}

/** Throws if a handler has returned without admitting its visitor. That is a bug, so its result is not sent. */
export function requireAdmitted(route: Route, caller: Caller | Member | Visitor | null): void {
  if (caller && 'admitted' in caller && !caller.admitted())
    throw new Error(`${route.method} ${route.path} returned without checking the caller's access`)
}
