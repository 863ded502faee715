import { type Organization, ServiceError } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { organizationWithRole } from '../organization-view.ts'

const ofCaller = (db: Db, caller: Caller) =>
  db
    .selectFrom('organizations')
    .innerJoin('memberships', 'memberships.organization_id', 'organizations.id')
    .where('memberships.user_id', '=', caller.userId)
    .selectAll('organizations')
    .select('memberships.role')

/** The caller's organizations, oldest first. */
export const listOrganizations = async (db: Db, caller: Caller): Promise<Organization[]> => {
  const rows = await ofCaller(db, caller)
    .orderBy('organizations.created_at')
    .orderBy('organizations.id')
    .execute()
  return rows.map((row) => organizationWithRole(row, row.role))
}

/** One of the caller's organizations. Throws `organization_not_found`. */
export const readOrganization = async (db: Db, caller: Caller, id: string): Promise<Organization> => {
  const row = await ofCaller(db, caller).where('organizations.id', '=', id).executeTakeFirst()
  if (!row) throw new ServiceError('organization_not_found')
  return organizationWithRole(row, row.role)
}
