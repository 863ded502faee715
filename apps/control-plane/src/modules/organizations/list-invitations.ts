import type { Invitation } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { listInvitationRows } from './invitation-store.ts'
import { invitationView } from './invitation-view.ts'

/** Returns the invitations of the caller's organization including expired ones, newest first. */
export async function listInvitations(db: Db, caller: Member): Promise<Invitation[]> {
  return (await listInvitationRows(db, caller.organizationId)).map(invitationView)
}
