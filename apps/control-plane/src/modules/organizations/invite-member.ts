import { type Role, ServiceError } from '@dock/contract'
import { type Tx, withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import {
  findInvitationRow,
  insertInvitation,
  renewInvitation,
  requireRoomForInvitation,
} from './invitation-store.ts'
import { newInvitationToken } from './invitation-token.ts'
import { findColleagueAddress, isMemberAddress } from './member-store.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization, requireSeat } from './organization-store.ts'
import { recordInvitation } from './record-invitation.ts'
import { requireOwnerFor } from './require-owner.ts'
import { invitationExpiry, sendInvitation } from './send-invitation.ts'

export type InvitationRequest = { email?: string | undefined; userId?: string | undefined; role: Role }

/**
 * Returns the address to invite. The list of invitations shows it, so an id stands for the address only of a person who
 * shares an organization with the caller, where the caller can read it already.
 */
const resolveAddress = async (
  tx: Tx,
  caller: Member,
  { email, userId }: InvitationRequest,
): Promise<string> => {
  if (email !== undefined) return email.toLowerCase()
  const address = await findColleagueAddress(tx, caller.userId, userId ?? '')
  if (address === undefined) throw new ServiceError('user_not_found')
  return address
}

/**
 * Invites an address by mail. An address that is already invited gets a new link with the new role. The address of a
 * member gets no mail and takes no seat, but needs a free one like any other. The result is the same in all cases, so
 * that it does not reveal who owns an address.
 * Throws `user_not_found`, `forbidden`, `seats_exceeded`, and `conflict` if too many are open.
 */
export async function inviteMember(
  context: OrganizationContext,
  caller: Member,
  request: InvitationRequest,
): Promise<{ status: 'accepted' }> {
  await context.rateLimits.take('invitationMails', caller.userId)
  const now = context.clock.now()
  const { role } = request
  await withTransaction(context.db, async (tx) => {
    const organization = await lockOrganization(tx, caller.organizationId)
    const organizationId = organization.id
    const email = await resolveAddress(tx, caller, request)
    const before = await findInvitationRow(tx, organizationId, { email })
    await requireOwnerFor(tx, caller, before ? [role, before.role] : [role])
    if (!before || before.expires_at <= now) await requireSeat(tx, organization, now)
    if (await isMemberAddress(tx, organizationId, email)) return
    const token = newInvitationToken()
    const expiresAt = invitationExpiry(now)
    const invitedBy = caller.userId
    if (before) await renewInvitation(tx, organizationId, before.id, { role, token, expiresAt, invitedBy })
    else {
      await requireRoomForInvitation(tx, organizationId, now)
      await insertInvitation(tx, { organizationId, email, role, token, invitedBy, expiresAt, now })
    }
    await sendInvitation(tx, context.appUrl, { organization, email, role, token })
    await recordInvitation(tx, caller, 'invitation.sent', { organizationId, email, role, now })
  })
  context.wakeMailer()
  return { status: 'accepted' }
}
