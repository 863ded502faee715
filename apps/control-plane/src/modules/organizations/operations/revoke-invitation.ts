import { ServiceError } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { deleteInvitation } from '../invitation-store.ts'

/** Withdraws an invitation; its link leads nowhere any more. */
export async function revokeInvitation(db: Db, caller: Member, id: string): Promise<{ revoked: true }> {
  if (!(await deleteInvitation(db, caller.organizationId, id))) throw new ServiceError('invitation_not_found')
  return { revoked: true }
}
