import { type Membership, type Role, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireRoomForOwner } from '../limits/index.ts'
import { findMemberRow, hasOtherOwner, membershipView, updateMemberRole } from './member-store.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization } from './organization-store.ts'
import { requireOwnerFor } from './require-owner.ts'

/**
 * Changes the role of a member. Throws `member_not_found`, `cannot_remove_owner` for the last owner, and `conflict` if
 * a new owner would own too many organizations.
 */
export function changeMemberRole(
  context: OrganizationContext,
  caller: Member,
  userId: string,
  role: Role,
): Promise<Membership> {
  return withTransaction(context.db, async (tx) => {
    const { organizationId } = caller
    await lockOrganization(tx, organizationId)
    const member = await findMemberRow(tx, organizationId, userId)
    if (!member) throw new ServiceError('member_not_found')
    await requireOwnerFor(tx, caller, [member.role, role])
    if (member.role === role) return membershipView(member)
    if (member.role === 'owner' && !(await hasOtherOwner(tx, organizationId, userId)))
      throw new ServiceError('cannot_remove_owner')
    if (role === 'owner')
      await requireRoomForOwner(tx, userId, organizationId, context.organizationsPerPerson)
    const now = context.clock.now()
    const changed = await updateMemberRole(tx, organizationId, userId, { role, now })
    await recordAudit(tx, caller, {
      action: 'member.role_changed',
      now,
      organizationId,
      target: { type: 'person', id: userId },
      details: { from: member.role, to: role },
    })
    return membershipView(changed)
  })
}
