import type { Member as MemberEntry } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { listMemberEntries } from '../member-store.ts'

/** Members of the caller's organization, who came first at the top. */
export function listMembers(db: Db, caller: Member): Promise<MemberEntry[]> {
  return listMemberEntries(db, caller.organizationId)
}
