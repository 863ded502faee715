import { type OrganizationWithoutRole, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/violations.ts'
import type { Member } from '../accounts/index.ts'
import { changesOf, recordAudit } from '../audit/index.ts'
import type { OrganizationContext } from './organization-context.ts'
import { countSeatsTaken, lockOrganization, updateOrganizationRow } from './organization-store.ts'
import { organizationView } from './organization-view.ts'

export type OrganizationChanges = {
  name?: string | undefined
  slug?: string | undefined
  seats?: number | undefined
}

/**
 * Changes only the fields that are present.
 * Throws `slug_taken`, and `validation_error` if `seats` is less than the number of members and pending invitations.
 */
export async function updateOrganization(
  context: OrganizationContext,
  caller: Member,
  changes: OrganizationChanges,
): Promise<OrganizationWithoutRole> {
  const now = context.clock.now()
  try {
    return await withTransaction(context.db, async (tx) => {
      const organization = await lockOrganization(tx, caller.organizationId)
      if (Object.keys(changes).length === 0) return organizationView(organization)
      if (changes.seats !== undefined) {
        const taken = await countSeatsTaken(tx, organization.id, now)
        if (changes.seats < taken)
          throw new ServiceError('validation_error', {
            message: `seats: must be at least ${taken}, the number of members and pending invitations`,
          })
      }
      const changed = await updateOrganizationRow(tx, organization.id, changes, now)
      const details = changesOf(organization, changes)
      const { id, name } = changed
      const entry = { action: 'organization.updated', now, organizationId: id } as const
      if (details)
        await recordAudit(tx, caller, { ...entry, target: { type: 'organization', id, name }, details })
      return organizationView(changed)
    })
  } catch (error) {
    throw isUniqueViolation(error, 'organizations_slug') ? new ServiceError('slug_taken') : error
  }
}
