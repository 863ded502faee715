import type { Member as MemberEntry } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { listMemberEntries } from '../member-store.ts'

/** Returns the members of the caller's organization, oldest membership first. */
export function listMembers(db: Db, caller: Member): Promise<MemberEntry[]> {
  return listMemberEntries(db, caller.organizationId)
}
