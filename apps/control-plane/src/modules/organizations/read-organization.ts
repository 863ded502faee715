import type { Organization } from '@dock/contract'
import { columnsOf } from '../../database/columns.ts'
import type { Db } from '../../database/database.ts'
import type { Caller, Member } from '../accounts/index.ts'
import { organizationWithRole } from './organization-view.ts'

/** Returns the caller's organizations, oldest first. */
export async function listOrganizations(db: Db, caller: Caller): Promise<Organization[]> {
  const rows = await db
    .selectFrom('organizations')
    .innerJoin('memberships', 'memberships.organization_id', 'organizations.id')
    .where('memberships.user_id', '=', caller.userId)
    .select(columnsOf('organizations'))
    .select('memberships.role')
    .orderBy('organizations.created_at')
    .orderBy('organizations.id')
    .execute()
  return rows.map((row) => organizationWithRole(row, row.role))
}

/** Returns the organization of the member. */
export async function readOrganization(db: Db, caller: Member): Promise<Organization> {
  const row = await db
    .selectFrom('organizations')
    .select(columnsOf('organizations'))
    .where('id', '=', caller.organizationId)
    .executeTakeFirstOrThrow()
  return organizationWithRole(row, caller.role)
}
