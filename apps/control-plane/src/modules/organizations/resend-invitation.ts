/** Both ways to renew an invitation: mail its new link, or return it to the admin. */
import { type Invitation, type LinkedInvitation, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { findInvitationRow, type InvitationRow, renewInvitation } from './invitation-store.ts'
import { newInvitationToken } from './invitation-token.ts'
import { invitationView } from './invitation-view.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization, requireSeat } from './organization-store.ts'
import { recordInvitation } from './record-invitation.ts'
import { requireOwnerFor } from './require-owner.ts'
import { invitationExpiry, invitationLink, sendInvitation } from './send-invitation.ts'

/**
 * Replaces the link; the previous one stops working. An expired invitation takes a seat again. Throws
 * `invitation_not_found`, `forbidden` and `seats_exceeded`.
 */
async function renew(
  context: OrganizationContext,
  caller: Member,
  id: string,
  withMail: boolean,
): Promise<{ row: InvitationRow; token: string }> {
  await context.rateLimits.take('invitationMails', caller.userId)
  const now = context.clock.now()
  return withTransaction(context.db, async (tx) => {
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
    if (withMail) await sendInvitation(tx, context.appUrl, { organization, email, role, token })
    const action = withMail ? 'invitation.sent' : 'invitation.link_made'
    await recordInvitation(tx, caller, action, { organizationId: organization.id, email, role, now })
    return { row, token }
  })
}

/** Sends an invitation again with a new link. */
export async function resendInvitation(
  context: OrganizationContext,
  caller: Member,
  id: string,
): Promise<Invitation> {
  const { row } = await renew(context, caller, id, true)
  context.wakeMailer()
  return invitationView(row)
}

/** Returns an invitation with a new link, for an admin who hands it over without mail. */
export async function linkInvitation(
  context: OrganizationContext,
  caller: Member,
  id: string,
): Promise<LinkedInvitation> {
  const { row, token } = await renew(context, caller, id, false)
  return { ...invitationView(row), link: invitationLink(context.appUrl, token) }
}
