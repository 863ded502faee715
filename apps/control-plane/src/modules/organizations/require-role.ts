/** The one rule about who may act in an organization: outsiders see nothing, members what their role allows. */
import { type ErrorCode, type Role, ServiceError } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'

const rank: Record<Role, number> = { member: 0, admin: 1, owner: 2 }

/** Whether `role` is at least `lowest` (member < admin < owner). */
export const roleReaches = (role: Role, lowest: Role): boolean => rank[role] >= rank[lowest]

/**
 * The caller's role in the organization, at least `role`. A caller who is no member gets `notFoundCode`, the same
 * answer as for a thing that does not exist; a member below the role gets `forbidden`.
 */
export const requireRole = async (
  db: Db,
  caller: Pick<Caller, 'userId'>,
  organizationId: string,
  role: Role,
  notFoundCode: ErrorCode,
): Promise<Role> => {
  const membership = await db
    .selectFrom('memberships')
    .select('role')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', caller.userId)
    .executeTakeFirst()
  if (!membership) throw new ServiceError(notFoundCode)
  if (!roleReaches(membership.role, role)) throw new ServiceError('forbidden')
  return membership.role
}
