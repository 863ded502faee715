/** GET /v1/organizations/:id/members, and the same with names for the dashboard */
import type { Member as MemberEntry, NamedMember } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { listMemberEntries } from './member-store.ts'

/** Returns the members of the caller's organization, oldest membership first. */
export async function listMembers(db: Db, caller: Member): Promise<MemberEntry[]> {
  return (await listMemberEntries(db, caller.organizationId)).map(({ name: _, ...member }) => member)
}

/** Like {@link listMembers}, with the names that people chose. */
export function listNamedMembers(db: Db, caller: Member): Promise<NamedMember[]> {
  return listMemberEntries(db, caller.organizationId)
}
