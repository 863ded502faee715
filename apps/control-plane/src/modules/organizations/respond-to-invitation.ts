/**
 * Route handlers for the invited user: list, read, accept and decline. A caller finds an invitation, by id or by token, only
 * if their address is verified and is the invited address.
 */
import { type InvitationGreeting, type InvitationPreview, type Role, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireRoomForOwner } from '../limits/index.ts'
import {
  type AddressedInvitation,
  deleteInvitation,
  findAddressedInvitation,
  findGreeting,
  type InvitationReference,
  listAddressedInvitations,
} from './invitation-store.ts'
import { invitationPreview } from './invitation-view.ts'
import { insertMember } from './member-store.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization, requireSeat } from './organization-store.ts'
import { recordInvitation } from './record-invitation.ts'

const requireOwnInvitation = async (
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

/** Returns the invitations that the caller can accept, newest first. */
export async function listOwnInvitations(
  { db, clock }: OrganizationContext,
  caller: Caller,
): Promise<InvitationPreview[]> {
  if (!caller.emailVerified) return []
  return (await listAddressedInvitations(db, caller.email, clock.now())).map(invitationPreview)
}

/** Returns an invitation of the caller. Throws `invitation_not_found`. */
export async function readInvitation(
  context: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<InvitationPreview> {
  return invitationPreview(await requireOwnInvitation(context, caller, reference))
}

/** Returns what an invitation's link tells its holder before they sign in. Throws `invitation_not_found`. */
export async function readInvitationGreeting(
  { db, clock }: OrganizationContext,
  token: string,
): Promise<InvitationGreeting> {
  const found = await findGreeting(db, token, clock.now())
  if (!found) throw new ServiceError('invitation_not_found')
  const { expires_at, ...rest } = found
  return { ...rest, expiresAt: expires_at.toISOString() }
}

/**
 * Makes the caller a member and deletes the invitation. Of several concurrent calls, one succeeds and the others throw
 * `invitation_not_found`. Throws `seats_exceeded`, and throws `conflict` if the caller would own too many
 * organizations; the invitation then stays.
 */
export async function acceptInvitation(
  context: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<{ organizationId: string; role: Role }> {
  const { id, organization_id: organizationId } = await requireOwnInvitation(context, caller, reference)
  return withTransaction(context.db, async (tx) => {
    const now = context.clock.now()
    const organization = await lockOrganization(tx, organizationId).catch((error: unknown) => {
      // The organization was deleted since, and its invitations with it.
      throw error instanceof ServiceError ? new ServiceError('invitation_not_found') : error
    })
    // Read it again under the lock: its role or its token may have been replaced.
    const invitation = await findAddressedInvitation(tx, caller.email, reference, now)
    if (!invitation || !(await deleteInvitation(tx, organizationId, id)))
      throw new ServiceError('invitation_not_found')
    await requireSeat(tx, organization, now)
    if (invitation.role === 'owner')
      await requireRoomForOwner(tx, caller.userId, organizationId, context.organizationsPerPerson)
    const { userId } = caller
    const { role, isNew } = await insertMember(tx, { organizationId, userId, role: invitation.role, now })
    const target = { type: 'person', id: userId }
    const entry = { action: 'member.joined', now, organizationId, target } as const
    if (isNew) await recordAudit(tx, caller, { ...entry, details: { role } })
    return { organizationId, role }
  })
}

/** Deletes an invitation of the caller. Throws `invitation_not_found`. */
export async function declineInvitation(
  context: OrganizationContext,
  caller: Caller,
  reference: InvitationReference,
): Promise<{ declined: true }> {
  const { id, organization_id: organizationId } = await requireOwnInvitation(context, caller, reference)
  return withTransaction(context.db, async (tx) => {
    const declined = await deleteInvitation(tx, organizationId, id)
    if (!declined) throw new ServiceError('invitation_not_found')
    const { email, role } = declined
    const now = context.clock.now()
    await recordInvitation(tx, caller, 'invitation.declined', { organizationId, email, role, now })
    return { declined: true }
  })
}
