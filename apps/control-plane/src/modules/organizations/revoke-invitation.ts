import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { deleteInvitation } from './invitation-store.ts'
import type { OrganizationContext } from './organization-context.ts'
import { recordInvitation } from './record-invitation.ts'

/** Deletes an invitation, so that its link stops working. Throws `invitation_not_found`. */
export function revokeInvitation(
  { db, clock }: Pick<OrganizationContext, 'db' | 'clock'>,
  caller: Member,
  id: string,
): Promise<{ revoked: true }> {
  const { organizationId } = caller
  return withTransaction(db, async (tx) => {
    const revoked = await deleteInvitation(tx, organizationId, id)
    if (!revoked) throw new ServiceError('invitation_not_found')
    const { email, role } = revoked
    await recordInvitation(tx, caller, 'invitation.revoked', {
      organizationId,
      email,
      role,
      now: clock.now(),
    })
    return { revoked: true }
  })
}
