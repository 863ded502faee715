import { type Invitation, ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { findInvitationRow, renewInvitation } from '../invitation-store.ts'
import { newInvitationToken } from '../invitation-token.ts'
import { invitationView } from '../invitation-view.ts'
import type { OrganizationContext } from '../organization-context.ts'
import { lockOrganization, requireSeat } from '../organization-store.ts'
import { requireOwnerFor } from '../require-owner.ts'
import { invitationExpiry, sendInvitation } from '../send-invitation.ts'

/**
 * Sends an invitation again with a new link; the previous link stops working. An expired invitation takes a seat again.
 * Throws `invitation_not_found`, `forbidden` and `seats_exceeded`.
 */
export async function resendInvitation(
  context: OrganizationContext,
  caller: Member,
  id: string,
): Promise<Invitation> {
  await context.rateLimits.take('invitationMails', caller.userId)
  const now = context.clock.now()
  const renewed = await withTransaction(context.db, async (tx) => {
    const organization = await lockOrganization(tx, caller.organizationId)
    const before = await findInvitationRow(tx, organization.id, { id })
    if (!before) throw new ServiceError('invitation_not_found')
    const { email, role } = before
    await requireOwnerFor(tx, caller, [role])
    if (before.expires_at <= now) await requireSeat(tx, organization, now)
    const token = newInvitationToken()
    const row = await renewInvitation(tx, organization.id, id, {
      role,
      token,
      expiresAt: invitationExpiry(now),
    })
    await sendInvitation(tx, context.appUrl, { organization, email, role, token })
    return row
  })
  context.wakeMailer()
  return invitationView(renewed)
}
