/**
 * Whose thing a request touches. Organizations and workspaces are looked up here, before the operation; a Dock or
 * another thing is looked up by the operation, which gets a visitor and must have let them in before it answers.
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

/** Finds the caller's membership in one query. */
export type FindMembership = (userId: string, id: string) => Promise<Membership | undefined>
export type Memberships = { ofOrganization: FindMembership; ofWorkspace: FindMembership }

/** What the contract's schemas have let through. */
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

/** Throws when an operation is about to answer a visitor whom it has not let in: a defect, and nothing is told. */
export function requireAdmitted(route: Route, caller: Caller | Member | Visitor | null): void {
  if (caller && 'admitted' in caller && !caller.admitted())
    throw new Error(`${route.method} ${route.path} answered without asking whether the caller may`)
}
