import { type Organization, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type Tx, withTransaction } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { insertDefaultEnvironment } from '../environments/index.ts'
import { requireRoomForOrganization } from '../limits/index.ts'
import type { OrganizationContext } from './organization-context.ts'
import { slugCandidates } from './organization-slug.ts'
import { insertOrganizationRow, type OrganizationRow } from './organization-store.ts'
import { organizationWithRole } from './organization-view.ts'

export type NewOrganization = { name: string; slug?: string | undefined; seats?: number | undefined }
export type CreatedOrganization = { organization: Organization; workspaceId: string; environmentId: string }

const insertOrganization = async (
  tx: Tx,
  createdBy: string,
  wanted: NewOrganization,
): Promise<OrganizationRow> => {
  for (const slug of slugCandidates(wanted)) {
    const row = await insertOrganizationRow(tx, { ...wanted, slug, createdBy })
    if (row) return row
  }
  throw new ServiceError('slug_taken')
}

/**
 * Creates an organization with its owner, the workspace `default` and the Environment `default`, which is empty at
 * version 1.
 * Throws `slug_taken`.
 */
export async function insertOrganizationWithDefaults(
  tx: Tx,
  ownerId: string,
  wanted: NewOrganization,
): Promise<CreatedOrganization> {
  const row = await insertOrganization(tx, ownerId, wanted)
  const workspaceId = newUuid()
  await tx
    .insertInto('memberships')
    .values({ organization_id: row.id, user_id: ownerId, role: 'owner' })
    .execute()
  await tx
    .insertInto('workspaces')
    .values({ id: workspaceId, organization_id: row.id, name: 'Default', slug: 'default' })
    .execute()
  const environmentId = await insertDefaultEnvironment(tx, row.id)
  return { organization: organizationWithRole(row, 'owner'), workspaceId, environmentId }
}

/** Creates an organization that the caller owns. Throws `slug_taken`, and `conflict` if the caller has too many. */
export async function createOrganization(
  { db, clock, organizationsPerPerson }: Pick<OrganizationContext, 'db' | 'clock' | 'organizationsPerPerson'>,
  caller: Caller,
  wanted: NewOrganization,
): Promise<Organization> {
  const created = await withTransaction(db, async (tx) => {
    await requireRoomForOrganization(tx, caller.userId, organizationsPerPerson)
    const made = await insertOrganizationWithDefaults(tx, caller.userId, wanted)
    const { id, name } = made.organization
    await recordAudit(tx, caller, {
      action: 'organization.created',
      now: clock.now(),
      organizationId: id,
      target: { type: 'organization', id, name },
    })
    return made
  })
  return created.organization
}
