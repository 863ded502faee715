/** GET and PATCH /v1/account/retention: an organization's zero-data-retention policy. */
import { retentionConfirmation, ServiceError } from '@dock/contract'
import { type Db, withTransaction } from '../../database/database.ts'
import { type Member, retentionEnabled } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import type { OrganizationContext } from './organization-context.ts'
import { lockOrganization, setRetention } from './organization-store.ts'

export async function readRetention(db: Db, member: Member): Promise<{ enabled: boolean }> {
  return {
    enabled: await retentionEnabled(db, member.organizationId),
  }
}

/** Turns the policy on or off. Throws `confirm_required` if it is turned on without the exact confirmation phrase. */
export async function updateRetention(
  { db, clock }: Pick<OrganizationContext, 'db' | 'clock'>,
  member: Member,
  body: { enabled: boolean; confirmation?: string | undefined },
): Promise<{ enabled: boolean }> {
  const { enabled } = body
  if (enabled && body.confirmation !== retentionConfirmation) {
    throw new ServiceError('confirm_required', {
      message: `To confirm, set confirmation to '${retentionConfirmation}'.`,
    })
  }
  const { organizationId } = member
  const now = clock.now()
  await withTransaction(db, async (tx) => {
    const { name, retention_enabled: before } = await lockOrganization(tx, organizationId)
    if (before === enabled) return
    await setRetention(tx, organizationId, enabled, now)
    const target = { type: 'organization', id: organizationId, name }
    const entry = { action: 'organization.retention_changed', now, organizationId, target } as const
    await recordAudit(tx, member, { ...entry, details: { enabled } })
  })
  return { enabled }
}
