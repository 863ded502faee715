import { ServiceError } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { deleteInvitation } from './invitation-store.ts'

/** Deletes an invitation, so that its link stops working. Throws `invitation_not_found`. */
export async function revokeInvitation(db: Db, caller: Member, id: string): Promise<{ revoked: true }> {
  if (!(await deleteInvitation(db, caller.organizationId, id))) throw new ServiceError('invitation_not_found')
  return { revoked: true }
}
