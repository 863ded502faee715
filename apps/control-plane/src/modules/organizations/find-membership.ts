/** Finds a user's membership by the id of an organization or of one of its workspaces. */
import type { Db } from '../../database/database.ts'
import type { Membership } from '../accounts/index.ts'

export async function findMembership(
  db: Db,
  userId: string,
  organizationId: string,
): Promise<Membership | undefined> {
  return db
    .selectFrom('memberships')
    .select(['organization_id as organizationId', 'role'])
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

export async function findWorkspaceMembership(
  db: Db,
  userId: string,
  workspaceId: string,
): Promise<Membership | undefined> {
  return db
    .selectFrom('workspaces')
    .innerJoin('memberships', 'memberships.organization_id', 'workspaces.organization_id')
    .select(['memberships.organization_id as organizationId', 'memberships.role'])
    .where('workspaces.id', '=', workspaceId)
    .where('memberships.user_id', '=', userId)
    .executeTakeFirst()
}
