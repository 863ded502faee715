import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { cancelAlertMails } from '../../mail/index.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { deleteMember, findMemberRow, hasOtherOwner } from './member-store.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization } from './organization-store.ts'
import { requireOwnerFor } from './require-owner.ts'

/** Removes a member, possibly the caller. Throws `member_not_found`, and `cannot_remove_owner` for the last owner. */
export function removeMember(
  context: OrganizationContext,
  caller: Member,
  userId: string,
): Promise<{ removed: true }> {
  return withTransaction(context.db, async (tx) => {
    const { organizationId } = caller
    await lockOrganization(tx, organizationId)
    const member = await findMemberRow(tx, organizationId, userId)
    if (!member) throw new ServiceError('member_not_found')
    await requireOwnerFor(tx, caller, [member.role])
    if (member.role === 'owner' && !(await hasOtherOwner(tx, organizationId, userId)))
      throw new ServiceError('cannot_remove_owner')
    await deleteMember(tx, organizationId, userId)
    await recordAudit(tx, caller, {
      action: userId === caller.userId ? 'member.left' : 'member.removed',
      now: context.clock.now(),
      organizationId,
      target: { type: 'person', id: userId },
      details: { role: member.role },
    })
    // They name Docks of an organization that is no longer theirs.
    await cancelAlertMails(tx, userId, { organizationId })
    return { removed: true }
  })
}
