/** A caller whose membership was proven before the operation began. */
import type { AccessTerms, Role } from '@dock/contract'
import type { Caller } from './caller.ts'
import { requireRole } from './visitor.ts'

declare const proven: unique symbol

export type Membership = { organizationId: string; role: Role }

/** `organizationId` is the tenant of every query that an operation makes for them. */
export type Member = Caller & Membership & { readonly [proven]: 'member' }

/** Makes the member of what was found. Throws the outsiders' code or `forbidden`. */
export function createMember(
  caller: Caller,
  found: Membership | null | undefined,
  terms: AccessTerms,
): Member {
  const { organizationId, role } = requireRole(found, terms)
  return { ...caller, organizationId, role } as Member
}
