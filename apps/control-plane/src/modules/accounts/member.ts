/** A caller whose membership of an organization has been checked before the route handler runs. */
import type { AccessTerms, Role } from '@dock/contract'
import type { Caller } from './caller.ts'
import { requireRole } from './visitor.ts'

declare const proven: unique symbol

export type Membership = { organizationId: string; role: Role }

/** Route handlers use `organizationId` as the tenant in every query. Only {@link createMember} creates this type. */
export type Member = Caller & Membership & { readonly [proven]: 'member' }

/**
 * Returns the caller as a member of the organization in `found`.
 * Throws `terms.outsider` if `found` is empty, and `forbidden` if the role is too low.
 */
export function createMember(
  caller: Caller,
  found: Membership | null | undefined,
  terms: AccessTerms,
): Member {
  const { organizationId, role } = requireRole(found, terms)
  return { ...caller, organizationId, role } as Member
}
