import { type Organization, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type Tx, withTransaction } from '../../../database/database.ts'
import { requireRoomForOrganization } from '../../limits/index.ts'
import type { OrganizationContext } from '../organization-context.ts'
import { slugCandidates } from '../organization-slug.ts'
import { insertOrganizationRow, type OrganizationRow } from '../organization-store.ts'
import { organizationWithRole } from '../organization-view.ts'

export type NewOrganization = { name: string; slug?: string | undefined; seats?: number | undefined }
export type MadeOrganization = { organization: Organization; workspaceId: string; environmentId: string }

const insertOrganization = async (
  tx: Tx,
  madeBy: string,
  wanted: NewOrganization,
): Promise<OrganizationRow> => {
  for (const slug of slugCandidates(wanted)) {
    const row = await insertOrganizationRow(tx, { ...wanted, slug, madeBy })
    if (row) return row
  }
  throw new ServiceError('slug_taken')
}

/** Everything an organization begins with: its owner, a workspace, and the empty Environment `default`, version 1. */
export async function insertWholeOrganization(
  tx: Tx,
  ownerId: string,
  wanted: NewOrganization,
): Promise<MadeOrganization> {
  const row = await insertOrganization(tx, ownerId, wanted)
  const [workspaceId, environmentId] = [newUuid(), newUuid()]
  await tx
    .insertInto('memberships')
    .values({ organization_id: row.id, user_id: ownerId, role: 'owner' })
    .execute()
  await tx
    .insertInto('workspaces')
    .values({ id: workspaceId, organization_id: row.id, name: 'Default', slug: 'default' })
    .execute()
  await tx
    .insertInto('environments')
    .values({ id: environmentId, organization_id: row.id, name: 'default', is_default: true })
    .execute()
  await tx
    .insertInto('environment_versions')
    .values({ environment_id: environmentId, organization_id: row.id, version: 1 })
    .execute()
  return { organization: organizationWithRole(row, 'owner'), workspaceId, environmentId }
}

/** Makes an organization that the caller owns. Throws `slug_taken`, and `conflict` for one more than a person may make. */
export async function createOrganization(
  { db, organizationsPerPerson }: Pick<OrganizationContext, 'db' | 'organizationsPerPerson'>,
  caller: { userId: string },
  wanted: NewOrganization,
): Promise<Organization> {
  const made = await withTransaction(db, async (tx) => {
    await requireRoomForOrganization(tx, caller.userId, organizationsPerPerson)
    return insertWholeOrganization(tx, caller.userId, wanted)
  })
  return made.organization
}
