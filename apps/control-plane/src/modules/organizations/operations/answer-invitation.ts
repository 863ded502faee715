/**
 * The invited person's side: read, accept, decline. An invitation shows itself only to a caller with a verified address
 * that is the invited one, whether it is named by its id or by the token of the mailed link.
 */
import { type InvitationPreview, type Role, ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { requireRoomForOwner } from '../../limits/index.ts'
import {
  type AddressedInvitation,
  deleteInvitation,
  findAddressedInvitation,
  type InvitationReference,
  listAddressedInvitations,
} from '../invitation-store.ts'
import { invitationPreview } from '../invitation-view.ts'
import { insertMember } from '../member-store.ts'
import type { OrganizationContext } from '../organization-context.ts'
import { lockOrganization, requireSeat } from '../organization-store.ts'

const requireAddressed = async (
  { db, clock }: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<AddressedInvitation> => {
  const found = caller.emailVerified
    ? await findAddressedInvitation(db, caller.email, reference, clock.now())
    : undefined
  if (!found) throw new ServiceError('invitation_not_found')
  return found
}

/** What the caller can accept, newest first. */
export async function listOwnInvitations(
  { db, clock }: OrganizationContext,
  caller: Caller,
): Promise<InvitationPreview[]> {
  if (!caller.emailVerified) return []
  return (await listAddressedInvitations(db, caller.email, clock.now())).map(invitationPreview)
}

export async function readInvitation(
  context: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<InvitationPreview> {
  return invitationPreview(await requireAddressed(context, caller, reference))
}

/**
 * Makes the caller a member. Of many who try at once, one succeeds; the others find no invitation. Throws `conflict` for an
 * owner who has as many organizations as one person may; the invitation stays.
 */
export async function acceptInvitation(
  context: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<{ organizationId: string; role: Role }> {
  const { id, organization_id: organizationId } = await requireAddressed(context, caller, reference)
  return withTransaction(context.db, async (tx) => {
    const now = context.clock.now()
    const organization = await lockOrganization(tx, organizationId).catch((error: unknown) => {
      // Deleted since: its invitations are gone with it.
      throw error instanceof ServiceError ? new ServiceError('invitation_not_found') : error
    })
    // Read again: it may have been renewed with another role, or its link replaced.
    const invitation = await findAddressedInvitation(tx, caller.email, reference, now)
    if (!invitation || !(await deleteInvitation(tx, organizationId, id)))
      throw new ServiceError('invitation_not_found')
    await requireSeat(tx, organization, now)
    if (invitation.role === 'owner')
      await requireRoomForOwner(tx, caller.userId, organizationId, context.organizationsPerPerson)
    const role = await insertMember(tx, {
      organizationId,
      userId: caller.userId,
      role: invitation.role,
      now,
    })
    return { organizationId, role }
  })
}

/** Turns an invitation down; its link leads nowhere any more. */
export async function declineInvitation(
  context: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<{ declined: true }> {
  const { id, organization_id: organizationId } = await requireAddressed(context, caller, reference)
  if (!(await deleteInvitation(context.db, organizationId, id)))
    throw new ServiceError('invitation_not_found')
  return { declined: true }
}
